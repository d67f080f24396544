// Testbench: passes arrivals and departures to a decision, and writes its verdicts.
//
// +packets=FILE   a packet on each line, hexadecimal: 0 if it arrives or 1 if it leaves, port, queue,
//                 bytes, time in ns
// +verdicts=FILE  output: a line for each arrival, 0 to 4
// +fall_back      ignore predictions while their precision is too low
//
// Prints clocks: of all packets, and of the one that took most.
`default_nettype none

module dropcast_decision_tb (
    output reg         clk,
    output reg         rst,
    input  wire        refused,
    input  wire        ready,
    output reg         arrival,
    output reg         departure,
    output reg  [15:0] port,
    /* verilator lint_off SYMRSVDWORD */
    output reg  [7:0]  queue,
    /* verilator lint_on SYMRSVDWORD */
    output reg  [31:0] size_bytes,
    output reg  [63:0] now_ns,
    output reg         fall_back,
    input  wire        decided,
    input  wire [2:0]  verdict,
    input  wire [24:0] precision,
    input  wire [31:0] unheld
);

    initial begin
        clk = 1'b0;
        forever #5 clk = ~clk;
    end

    reg [8*4096-1:0] name;
    integer packets, verdicts, read;
    reg [31:0] kind;
    reg [63:0] clocks, total, worst;

    // Inputs change and outputs are read on falling edges.
    initial begin
        rst = 1'b1;
        arrival = 1'b0;
        departure = 1'b0;
        port = 16'd0;
        queue = 8'd0;
        size_bytes = 32'd0;
        now_ns = 64'd0;
        fall_back = 1'b0;
        if (!$value$plusargs("packets=%s", name)) begin
            $display("ERROR: no +packets=FILE");
            $finish;
        end
        packets = $fopen(name, "r");
        if (!$value$plusargs("verdicts=%s", name)) begin
            $display("ERROR: no +verdicts=FILE");
            $finish;
        end
        verdicts = $fopen(name, "w");
        if (packets == 0 || verdicts == 0) begin
            $display("ERROR: cannot open a file");
            $finish;
        end
        fall_back = $test$plusargs("fall_back") != 0;
        repeat (4) @(negedge clk);
        rst = 1'b0;
        while (!ready && !refused)
            @(negedge clk);
        if (refused) begin
            $display("ERROR: made for another switch");
            $finish;
        end
        total = 64'd0;
        worst = 64'd0;
        read = $fscanf(packets, "%h %h %h %h %h", kind, port, queue, size_bytes, now_ns);
        while (read == 5) begin
            arrival = kind == 32'd0;
            departure = kind != 32'd0;
            clocks = 64'd1;
            @(negedge clk);
            arrival = 1'b0;
            departure = 1'b0;
            if (decided)
                $fdisplay(verdicts, "%0d", verdict);
            while (!ready) begin
                clocks = clocks + 64'd1;
                @(negedge clk);
                if (decided)
                    $fdisplay(verdicts, "%0d", verdict);
            end
            total = total + clocks;
            worst = clocks > worst ? clocks : worst;
            read = $fscanf(packets, "%h %h %h %h %h", kind, port, queue, size_bytes, now_ns);
        end
        if (unheld != 32'd0)
            $display("ERROR: %0d packets found no place", unheld);
        $display("clocks %0d worst %0d precision %0d", total, worst, precision);
        $fclose(verdicts);
        $finish;
    end

endmodule

`default_nettype wire
