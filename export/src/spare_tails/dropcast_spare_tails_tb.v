// Gives the packets of a file to the module, and writes its verdicts, a line for each that arrives: 1 accepted, 0 dropped.
//
//     iverilog -g2001 -o simulate dropcast_spare_tails.v dropcast_spare_tails_tb.v
//     vvp -n simulate +packets=dropcast_spare_tails_packets.csv +verdicts=verdicts.txt
//
// With +until_wrong it ends at the first verdict that is not the file's.
`include "dropcast_spare_tails_config.vh"
`default_nettype none

/* verilator lint_off UNUSEDSIGNAL */

module dropcast_spare_tails_tb;

    // A call of more clocks ends a burst.
    localparam USUAL = 10;

    reg         clk = 1'b0;
    reg         rst = 1'b1;
    reg         arrival = 1'b0;
    reg         departure = 1'b0;
    reg  [15:0] port = 16'd0;
    reg  [7:0]  queue = 8'd0;
    reg  [15:0] size_bytes = 16'd0;
    reg  [63:0] flow_hash = 64'd0;
    reg  [63:0] now_ns = 64'd0;
    wire        ready, decided, accepted;

    dropcast_spare_tails #(`DROPCAST_SPARE_TAILS_PARAMETERS) early (
        .clk(clk), .rst(rst), .ready(ready), .arrival(arrival), .departure(departure), .port(port), .queue(queue),
        .size_bytes(size_bytes), .flow_hash(flow_hash), .now_ns(now_ns), .decided(decided), .accepted(accepted)
    );

    initial forever #1 clk = ~clk;

    reg [8*1024-1:0] packets_file, verdicts_file;
    reg [8*256-1:0]  header;
    integer packets, verdicts, letter, calls, clocks, most, most_usual, ends;
    reg [63:0] in_time, in_kind, in_port, in_queue, in_size, in_hash, told;
    reg        until_wrong, is_wrong;

    // A number of 64 bits, and what is behind it: no simulator's %d reads all of them.
    task next;
        output [63:0] number;
        begin
            number = 64'd0;
            letter = $fgetc(packets);
            while (letter >= 48 && letter <= 57) begin
                number = number * 64'd10 + {32'd0, letter} - 64'd48;
                letter = $fgetc(packets);
            end
        end
    endtask

    initial begin
        if (!$value$plusargs("packets=%s", packets_file) || !$value$plusargs("verdicts=%s", verdicts_file)) begin
            $display("ERROR: needs +packets=FILE and +verdicts=FILE");
            $finish;
        end
        packets = $fopen(packets_file, "r");
        verdicts = $fopen(verdicts_file, "w");
        if ($fgets(header, packets) == 0)
            $display("ERROR: no packets");
        until_wrong = $test$plusargs("until_wrong") != 0;
        is_wrong = 1'b0;
        calls = 0;
        most = 0;
        most_usual = 0;
        ends = 0;
        repeat (3) @(negedge clk);
        rst = 1'b0;
        while (!ready) @(negedge clk);
        next(in_time);
        while (letter == 44 && !is_wrong) begin
            next(in_kind);
            next(in_port);
            next(in_queue);
            next(in_size);
            next(in_hash);
            next(told);
            arrival = in_kind == 64'd0;
            departure = in_kind == 64'd1;
            port = in_port[15:0];
            queue = in_queue[7:0];
            size_bytes = in_size[15:0];
            flow_hash = in_hash;
            now_ns = in_time;
            clocks = 1;
            @(negedge clk);
            arrival = 1'b0;
            departure = 1'b0;
            while (!ready) begin
                if (decided) begin
                    $fwrite(verdicts, "%0d\n", accepted);
                    if (until_wrong && accepted != told[0]) begin
                        $display("the packet at %0d ns: the module says %0d, the file %0d", in_time, accepted, told[0]);
                        is_wrong = 1'b1;
                    end
                end
                clocks = clocks + 1;
                @(negedge clk);
            end
            if (decided)
                $display("ERROR: a verdict after its call");
            calls = calls + 1;
            if (clocks > USUAL)
                ends = ends + 1;
            else if (clocks > most_usual)
                most_usual = clocks;
            if (clocks > most)
                most = clocks;
            next(in_time);
        end
        $display("%0d calls, at most %0d clocks, and in %0d that end a burst at most %0d", calls, most_usual, ends, most);
        $fclose(verdicts);
        $finish;
    end

endmodule

`default_nettype wire
