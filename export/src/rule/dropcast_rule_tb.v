// Gives the packets of a file to the rule, and writes its verdicts, a line for each that arrives: 1 accepted, 0 dropped.
//
//     iverilog -g2001 -o simulate dropcast_rule.v dropcast_rule_tb.v
//     vvp -n simulate +packets=dropcast_rule_packets.csv +verdicts=verdicts.txt
`include "dropcast_rule_config.vh"
`default_nettype none

/* verilator lint_off UNUSEDSIGNAL */

module dropcast_rule_tb #(
    parameter STEPS = 6
);

    reg         clk = 1'b0;
    reg         rst = 1'b1;
    reg         arrival = 1'b0;
    reg         departure = 1'b0;
    reg  [15:0] port = 16'd0;
    reg  [7:0]  queue = 8'd0;
    reg  [15:0] size_bytes = 16'd0;
    reg  [63:0] now_ns = 64'd0;
    wire        ready, decided, accepted;

    dropcast_rule #(`DROPCAST_RULE_PARAMETERS, .STEPS(STEPS)) rule (
        .clk(clk), .rst(rst), .ready(ready), .arrival(arrival), .departure(departure), .port(port), .queue(queue),
        .size_bytes(size_bytes), .now_ns(now_ns), .decided(decided), .accepted(accepted)
    );

    initial forever #1 clk = ~clk;

    reg [8*1024-1:0] packets_file, verdicts_file;
    reg [8*256-1:0]  header;
    integer packets, verdicts, found, told, calls, clocks, most, total;
    reg [63:0] in_time, in_kind, in_port, in_queue, in_size;

    initial begin
        if (!$value$plusargs("packets=%s", packets_file) || !$value$plusargs("verdicts=%s", verdicts_file)) begin
            $display("ERROR: needs +packets=FILE and +verdicts=FILE");
            $finish;
        end
        packets = $fopen(packets_file, "r");
        verdicts = $fopen(verdicts_file, "w");
        found = $fgets(header, packets);
        calls = 0;
        most = 0;
        total = 0;
        repeat (3) @(negedge clk);
        rst = 1'b0;
        while (!ready) @(negedge clk);
        found = $fscanf(packets, "%d,%d,%d,%d,%d,%d", in_time, in_kind, in_port, in_queue, in_size, told);
        while (found == 6) begin
            arrival = in_kind == 64'd0;
            departure = in_kind == 64'd1;
            port = in_port[15:0];
            queue = in_queue[7:0];
            size_bytes = in_size[15:0];
            now_ns = in_time;
            clocks = 1;
            @(negedge clk);
            arrival = 1'b0;
            departure = 1'b0;
            while (!ready) begin
                if (decided)
                    $fwrite(verdicts, "%0d\n", accepted);
                clocks = clocks + 1;
                @(negedge clk);
            end
            if (decided)
                $display("ERROR: a verdict after its call");
            calls = calls + 1;
            total = total + clocks;
            if (clocks > most)
                most = clocks;
            found = $fscanf(packets, "%d,%d,%d,%d,%d,%d", in_time, in_kind, in_port, in_queue, in_size, told);
        end
        $display("%0d calls, %0d clocks, at most %0d for a call", calls, total, most);
        $fclose(verdicts);
        $finish;
    end

endmodule

`default_nettype wire
