// example_decision_tb.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Testbench: tells the decision of arrivals and departures, and writes its verdicts.
//
// +packets=FILE   a packet on each line, hexadecimal: 0 if it arrives or 1 if it leaves, port, queue,
//                 bytes, time in ns
// +verdicts=FILE  output: a line for each arrival, 0 to 4
// +fall_back      ignore predictions while their precision is too low
//
// Prints clocks: of all packets, and of the one that took most.

`default_nettype none

module example_decision_tb #(
    // Packets that virtual LQD can hold.
    parameter [31:0] PACKETS = 32'd15625
);

    reg clk = 1'b0;
    reg rst = 1'b1;
    reg arrival = 1'b0;
    reg departure = 1'b0;
    reg fall_back = 1'b0;
    reg [15:0] port = 16'd0;
    reg [7:0]  queue = 8'd0;
    reg [31:0] size_bytes = 32'd0;
    reg [63:0] now_ns = 64'd0;
    wire        refused, ready, decided;
    wire [2:0]  verdict;
    wire [24:0] precision;
    wire [31:0] unheld;

    example_decision #(.PACKETS(PACKETS)) decision (
        .clk(clk),
        .rst(rst),
        .refused(refused),
        .ready(ready),
        .arrival(arrival),
        .departure(departure),
        .port(port),
        .queue(queue),
        .size_bytes(size_bytes),
        .now_ns(now_ns),
        .fall_back(fall_back),
        .decided(decided),
        .verdict(verdict),
        .precision(precision),
        .unheld(unheld)
    );

    initial forever #5 clk = ~clk;

    reg [8*4096-1:0] name;
    integer packets, verdicts, read;
    reg [31:0] kind;
    reg [63:0] clocks, total, worst;

    // Inputs change and outputs are read on falling edges.
    initial begin
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
