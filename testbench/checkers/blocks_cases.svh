`pragma diagnostic ignore="-Wunconnected-input-port"
  // What a block's checker has beside the ones above. All its links have credit, and its rows are there.
  logic b_take, b_launch, b_valid;  // of its input, of its output
  ulpdu_t ulpdu;
  logic [15:0] word_index;
  fpdu_beat_t b_in, b_out;
  logic [127:0] b_in_data, b_out_data;
  mpa_framer_checker #(.BeatBytes(16)) u_framer (
    .clk_i, .rst_ni, .in_valid_i(b_take && is_at("u_framer")), .in_ready_o(1'b1), .in_i(ulpdu), .mem_index_o(word_index), .out_ready_i(1'b1),
    .out_launch_o(b_launch && is_at("u_framer")), .out_valid_o(b_valid && is_at("u_framer")), .out_o(b_out), .out_data_o(b_out_data)
  );
  marker_inserter_checker #(.BeatBytes(16)) u_inserter (
    .clk_i, .rst_ni, .in_valid_i(b_take && is_at("u_inserter")), .in_ready_o(1'b1), .in_i(b_in), .in_data_i(b_in_data), .out_ready_i(1'b1),
    .out_launch_o(b_launch && is_at("u_inserter")), .out_valid_o(b_valid && is_at("u_inserter")), .out_o(b_out), .out_data_o(b_out_data)
  );
  crc_insert_checker #(.BeatBytes(16), .PipelineCycles(1)) u_insert (
    .clk_i, .rst_ni, .in_valid_i(b_take && is_at("u_insert.")), .in_ready_o(1'b1), .in_i(b_in), .in_data_i(b_in_data), .out_ready_i(1'b1),
    .out_launch_o(b_launch && is_at("u_insert.")), .out_valid_o(b_valid && is_at("u_insert.")), .out_o(b_out), .out_data_o(b_out_data)
  );
  crc_check_checker #(.BeatBytes(16), .PipelineCycles(1)) u_check (
    .clk_i, .rst_ni, .in_valid_i(b_take && is_at("u_check")), .in_ready_o(1'b1), .in_i(b_in), .in_data_i(b_in_data), .out_ready_i(1'b1),
    .out_launch_o(b_launch && is_at("u_check")), .out_valid_o(b_valid && is_at("u_check")), .out_o(b_out), .out_data_o(b_out_data)
  );
  function automatic bit is_at(input string place);
    is_at = name.len() > place.len() && name.substr(0, place.len() - 1) == place;
  endfunction
  // A beat is taken and launched, and leaves a cycle later.
  task automatic pass(input logic launch = 1'b1);
    b_take = 1'b1; b_launch = launch; edges();
    b_take = 1'b0; b_launch = 1'b0; b_valid = launch; edges();
    b_valid = 1'b0;
  endtask
  task automatic stream_block_cases;
    b_in = beat_of(1'b1, 1'b1, 3); b_out = b_in; b_out_data = 128'h0600; b_in_data = b_out_data;
    if (is_at("u_check")) b_out.crc_ok = 1'b1;
    case (name)
      "u_framer.PositionOnAWord_A": begin ulpdu.position = 9'd2; pass(); end
      "u_framer.TakenIsLaunched_A": begin
        pass(.launch(1'b0)); b_launch = 1'b1; edges(); b_launch = 1'b0; b_valid = 1'b1; edges(); b_valid = 1'b0;
      end
      "u_framer.ReadsFromTheStart_A": begin word_index = 16'd1; pass(); end
      "u_framer.ReadsInOrder_A": begin
        b_out = beat_of(1'b1, 1'b0, 4); b_out_data = 128'h0a00 + 128'h0400; b_take = 1'b1; b_launch = 1'b1; edges();
        b_take = 1'b0; word_index = 16'd2; b_valid = 1'b1; edges();
        b_launch = 1'b0; b_out = beat_of(1'b0, 1'b1, 1); edges(); b_valid = 1'b0;
      end
      "u_inserter.MarkerIsAtItsPlace_A": begin b_in.marker = 32'h8000_01fc; b_out.words = 6'd4; b_out_data = 128'h1_0000_0600; pass(); end
      "u_inserter.StartIsTakenOut_A": begin b_in.marker = 32'd4; b_out.marker = 32'd4; pass(); end
      "u_insert.TakenIsLaunched_A", "u_check.TakenIsLaunched_A": pass(.launch(1'b0));
      "u_insert.FieldsStay_A", "u_check.FieldsStay_A": begin b_out.flow = 32'd8; pass(); end
      "u_insert.OctetsStay_A", "u_check.OctetsStay_A": begin b_out_data = 128'h0601; pass(); end
      "u_check.OkWithoutCrc_A": begin b_out.crc_ok = 1'b0; pass(); end
      default: ;
    endcase
  endtask

  logic         d_take, d_ready, d_place, d_complete, d_launch, d_valid, d_consumed, d_busy;
  stream_beat_t d_in;
  logic [31:0]  d_store;
  logic [15:0]  d_row;
  rx_consumed_t d_consumed_of;
  fpdu_beat_t   d_out;
  mpa_deframer_checker #(.BeatBytes(16), .PipelineCycles(1)) u_deframer (
    .clk_i, .rst_ni, .in_valid_i(d_take), .in_ready_o(d_ready), .in_i(d_in), .place_write_o(d_place), .store_write_o(d_store),
    .fpdu_complete_o(d_complete), .head_row_index_o(d_row), .out_ready_i(1'b1), .out_launch_o(d_launch), .out_valid_o(d_valid), .out_o(d_out),
    .out_data_o(128'h0600), .consumed_ready_i(1'b1), .consumed_valid_o(d_consumed), .consumed_o(d_consumed_of), .busy_o(d_busy)
  );
  task automatic d_beat(input logic first, input logic last, input logic [7:0] bytes, input logic [63:0] offset);
    d_in = '0; d_in.first = first; d_in.last = last; d_in.bytes = bytes; d_in.offset = offset;
    d_take = 1'b1; d_ready = 1'b1; edges(); d_take = 1'b0;
  endtask
  // An FPDU of one beat is completed, and leaves with its report.
  task automatic d_fpdu(input logic busy = 1'b1, input logic place = 1'b1, input logic [31:0] bytes = 32'd12, input logic launch = 1'b1,
                        input logic last = 1'b1, input logic [15:0] row = 16'd0);
    d_complete = 1'b1; d_place = place; edges(); d_complete = 1'b0; d_place = 1'b0;
    d_busy = busy; d_launch = launch; d_consumed = 1'b1; d_consumed_of.bytes = bytes; edges();
    d_launch = 1'b0; d_consumed = 1'b0; d_busy = 1'b0; d_row = row; d_valid = launch; d_out = beat_of(1'b1, last, last ? 3 : 4); edges();
    d_valid = 1'b0; d_row = 16'd0;
  endtask
  task automatic deframer_cases;
    case (name)
      "good": begin d_beat(1'b1, 1'b0, 8'd16, 64'd0); d_beat(1'b0, 1'b1, 8'd3, 64'd16); d_fpdu(); end
      "u_deframer.SegmentsAlternate_A": begin d_beat(1'b1, 1'b0, 8'd16, 64'd0); d_beat(1'b1, 1'b1, 8'd3, 64'd16); end
      "u_deframer.OctetsInRange_A": d_beat(1'b1, 1'b1, 8'd17, 64'd0);
      "u_deframer.FullBeforeLast_A": begin d_beat(1'b1, 1'b0, 8'd15, 64'd0); d_beat(1'b0, 1'b1, 8'd3, 64'd15); end
      "u_deframer.SegmentGoesOn_A": begin d_beat(1'b1, 1'b0, 8'd16, 64'd0); d_beat(1'b0, 1'b1, 8'd3, 64'd17); end
      "u_deframer.StoresWhatItTakes_A": begin d_store = 32'd6; edges(); d_store = '0; end
      "u_deframer.StoresOneRun_A": begin d_place = 1'b1; d_store = 32'd5; edges(); d_store = '0; d_place = 1'b0; end
      "u_deframer.CompletesWhatItTook_A": d_fpdu(.place(1'b0));
      "u_deframer.ConsumedAreWords_A": d_fpdu(.bytes(32'd13));
      "u_deframer.ConsumedIsLaunched_A": d_fpdu(.launch(1'b0));
      "u_deframer.RowsInOrder_A": d_fpdu(.row(16'd1));
      "u_deframer.BusyWithWhatItHolds_A": d_fpdu(.busy(1'b0));
      "u_deframer.ConsumedWithItsLast_A": d_fpdu(.last(1'b0));
      default: ;
    endcase
  endtask

  logic        q_ask, q_row, q_event, q_write, q_push, q_pop, q_due, q_read_push, q_atomic_push, q_read, q_read_pop, q_atomic, q_atomic_pop, q_accepted, q_drop;
  logic [16:0] q_held;
  qp_event_t   some_event;
  irrq_row_t   q_row_of;
  irrq_checker u_irrq (
    .clk_i, .rst_ni, .out_ready_i(1'b1), .out_valid_o(q_read), .atomic_ready_i(1'b1), .atomic_valid_o(q_atomic), .event_ready_i(1'b1), .event_valid_o(q_event),
    .event_o(some_event), .row_ready_i(1'b1), .row_ask_o(q_ask), .row_valid_i(q_row), .row_i(q_row_of), .row_drop_o(q_drop),
    .state_write_o(q_write), .push_o(q_push), .pop_o(q_pop), .due_ready_i(q_due), .due_read_valid_i(q_read), .due_atomic_valid_i(q_atomic),
    .due_read_push_o(q_read_push), .due_atomic_push_o(q_atomic_push), .due_read_pop_o(q_read_pop), .due_atomic_pop_o(q_atomic_pop),
    .accepted_o(q_accepted), .held_o(q_held)
  );
  // A row that was asked for is there, for a cycle in which it is dropped.
  task automatic irrq_row;
    q_ask = 1'b1; edges(); q_ask = 1'b0; q_row = 1'b1; q_drop = 1'b1;
  endtask
  task automatic irrq_cases;
    some_event = '0; some_event.kind = QpEventStreamError; some_event.cause = DdpInvalidMsnNoBuffer;
    q_row_of.qp.ird = 16'd2;
    case (name)
      "u_irrq.WithinIrd_A": begin irrq_row(); q_held = 17'd3; q_accepted = 1'b1; edges(); end
      "u_irrq.EventIsOfTheQueue_A": begin some_event.cause = RdmaLocalCatastrophic; q_event = 1'b1; edges(); end
      "u_irrq.AcceptsOrRefuses_A": begin irrq_row(); q_event = 1'b1; q_accepted = 1'b1; edges(); end
      "u_irrq.PushesOrPops_A": begin irrq_row(); q_write = 1'b1; q_push = 1'b1; q_pop = 1'b1; edges(); end
      "u_irrq.ListOfItsRow_A": begin q_push = 1'b1; edges(); end
      "u_irrq.ChangesItsRow_A": begin q_write = 1'b1; edges(); end
      "u_irrq.HoldsWithRoom_A": begin q_read_push = 1'b1; edges(); end
      "u_irrq.HoldsOne_A": begin q_due = 1'b1; q_read_push = 1'b1; q_atomic_push = 1'b1; edges(); end
      "u_irrq.ReleasesAHeldOne_A": begin q_read_pop = 1'b1; edges(); end
      "u_irrq.ReleasesAHeldAtomic_A": begin q_atomic_pop = 1'b1; edges(); end
      default: ;
    endcase
    {q_row, q_drop, q_event, q_write, q_push, q_pop, q_due, q_read_push, q_atomic_push, q_read_pop, q_atomic_pop, q_accepted} = '0;
  endtask

  logic               r_row_ask, r_row, r_drop, r_dma, r_record, r_pop, r_event, r_written, r_take, r_done, r_unblock;
  dma_write_request_t some_write;
  atomic_done_t       r_done_of;
  tx_unblock_t        r_unblock_of;
  response_queue_checker u_responses (
    .clk_i, .rst_ni, .dma_ready_i(1'b1), .dma_valid_o(r_dma), .dma_o(some_write), .written_valid_i(r_written), .written_ready_o(r_take),
    .done_ready_i(1'b1), .done_valid_o(r_done), .done_o(r_done_of), .unblock_ready_i(1'b1), .unblock_valid_o(r_unblock), .unblock_o(r_unblock_of),
    .event_ready_i(1'b1), .event_valid_o(r_event), .event_o(some_event), .under_way_write_o(r_record), .response_row_ready_i(1'b1),
    .response_row_ask_o(r_row_ask), .response_row_valid_i(r_row), .response_row_drop_o(r_drop), .response_pop_o(r_pop)
  );
  task automatic response(input logic dma = 1'b1, input logic record = 1'b1, input logic pop = 1'b1, input logic an_event = 1'b0, input logic dropped = 1'b1);
    r_row_ask = 1'b1; edges(); r_row_ask = 1'b0;
    r_row = dropped; r_drop = dropped; r_dma = dma; r_record = record; r_pop = pop; r_event = an_event; edges();
    {r_row, r_drop, r_dma, r_record, r_pop, r_event} = '0;
  endtask
  task automatic report(input logic written = 1'b1, input logic done = 1'b1, input logic unblock = 1'b1);
    r_written = written; r_take = written; r_done = done; r_unblock = unblock; edges();
    {r_written, r_take, r_done, r_unblock} = '0;
  endtask
  task automatic response_cases;
    some_write = '0; some_write.bytes = 32'd8; some_write.notify = 1'b1;
    r_unblock_of.kind = TxUnblockReadDone;
    case (name)
      "good": begin response(); report(); end
      "u_responses.ValueIsAWord_A": begin some_write.bytes = 32'd4; response(); end
      "u_responses.WritesOrReports_A": response(.an_event(1'b1));
      "u_responses.OfAResponse_A": response(.dropped(1'b0));
      "u_responses.PopsWhatItWrites_A": response(.pop(1'b0));
      "u_responses.WriteIsRecorded_A": response(.record(1'b0));
      "u_responses.DoneWhenWritten_A": begin response(); report(.written(1'b0)); end
      "u_responses.DoneUnblocks_A": begin response(); report(.unblock(1'b0)); end
      "u_responses.UnblocksTheSame_A": begin response(); r_unblock_of.qpn = 32'd1; report(); end
      "u_responses.EventIsAnError_A": begin some_event.kind = QpEventSendDrained; response(.dma(1'b0), .record(1'b0), .an_event(1'b1)); end
      default: ;
    endcase
  endtask

  logic               t_in, t_out, t_event, t_write;
  terminate_message_t t_message;
  logic [8*52-1:0]    t_octets;
  qp_event_t          t_event_of;
  terminate_generator_checker #(.QpBits(2)) u_terminates (
    .clk_i, .rst_ni, .in_valid_i(t_in), .in_ready_o(t_in), .in_i('0), .out_ready_i(1'b1), .out_valid_o(t_out), .out_o(t_message), .out_octets_o(t_octets),
    .event_ready_i(1'b1), .event_valid_o(t_event), .event_o(t_event_of), .qp_index_o('0), .reported_write_o(t_write)
  );
  task automatic terminate(input logic taken_in = 1'b1, input logic with_event = 1'b1);
    t_in = taken_in; t_write = taken_in; t_out = 1'b1; t_event = with_event; edges();
    {t_in, t_write, t_out, t_event} = '0;
  endtask
  // DDP error, with the header of a tagged segment: layer 1 and type 1, code 1, D.
  task automatic terminate_cases;
    t_octets = '0; t_octets[23:0] = 24'h40_01_11; t_event_of.cause = DdpBaseOrBounds;
    t_message = '0; t_message.bytes = 6'd20;
    case (name)
      "good": begin terminate(); t_message.epoch = 32'd1; t_message.bytes = 6'd24; terminate(); in_reset(); terminate(); end
      "u_terminates.OneForEach_A": terminate(.with_event(1'b0));
      "u_terminates.OfTheError_A": terminate(.taken_in(1'b0));
      "u_terminates.OfItsQueuePair_A": begin t_message.qpn = 32'd1; terminate(); end
      "u_terminates.FirstErrorOnly_A": begin terminate(); terminate(); end
      "u_terminates.CauseIsTheEvents_A": begin t_octets[15:8] = 8'd2; terminate(); end
      "u_terminates.LengthOfItsHeaders_A": begin t_message.bytes = 6'd22; terminate(); end
      "u_terminates.HeadersBehindDdp_A": begin t_octets[22] = 1'b0; t_octets[23] = 1'b1; t_message.bytes = 6'd4; terminate(); end
      "u_terminates.ReservedAreZero_A": begin t_octets[24] = 1'b1; terminate(); end
      default: ;
    endcase
  endtask

  logic              m_in, m_watch, m_read, m_done, m_done_take, m_write, m_written, m_written_take, m_out, m_event, m_release, m_add, m_swap, m_fail, m_busy;
  logic              m_index, m_release_index;
  dma_read_request_t m_read_of;
  dma_read_done_t    m_done_of;
  atomic_alu_checker #(.Operations(2)) u_alu (
    .clk_i, .rst_ni, .busy_o(m_busy), .in_valid_i(m_in), .in_ready_o(m_in), .read_ready_i(1'b1), .read_valid_o(m_read), .read_o(m_read_of),
    .read_done_valid_i(m_done), .read_done_ready_o(m_done_take), .read_done_i(m_done_of), .write_ready_i(1'b1), .write_valid_o(m_write), .write_o(some_write),
    .written_valid_i(m_written), .written_ready_o(m_written_take), .out_ready_i(1'b1), .out_valid_o(m_out), .event_ready_i(1'b1), .event_valid_o(m_event),
    .event_o(some_event), .word_watch_o(m_watch), .word_index_o(m_index), .release_o(m_release), .release_index_o(m_release_index),
    .fetch_add_o(m_add), .cmp_swap_o(m_swap), .failed_o(m_fail)
  );
  task automatic start(input logic read = 1'b1, input logic busy = 1'b1);
    m_in = 1'b1; m_watch = 1'b1; m_read = read; edges(); {m_in, m_watch, m_read} = '0;
    m_busy = busy; edges(); m_busy = 1'b0;
  endtask
  task automatic read_done;
    m_done = 1'b1; m_done_take = 1'b1; edges(); m_done = 1'b0; m_done_take = 1'b0;
  endtask
  task automatic write_word;
    m_write = 1'b1; edges(); m_write = 1'b0;
  endtask
  task automatic answer(input logic written = 1'b1, input logic released = 1'b1, input logic out = 1'b1, input logic swap = 1'b0);
    m_written = written; m_written_take = written; m_release = released; m_out = out; m_add = 1'b1; m_swap = swap; edges();
    {m_written, m_written_take, m_release, m_out, m_add, m_swap} = '0;
  endtask
  task automatic alu_cases;
    some_write = '0; some_write.bytes = 32'd8; some_write.notify = 1'b1;
    some_event = '0; some_event.kind = QpEventStreamError;
    m_read_of = '0; m_read_of.bytes = 32'd8;
    case (name)
      "good": begin start(); read_done(); write_word(); answer(); start(); read_done(); write_word(); answer(); end
      "u_alu.ReadsOneWord_A": begin m_read_of.address = 64'd4; start(); end
      "u_alu.WritesOneWord_A": begin some_write.notify = 1'b0; write_word(); end
      "u_alu.TagIsFree_A": begin start(); answer(.written(1'b0)); start(); end
      "u_alu.ReadIsOfItsStart_A": begin m_read_of.tag = 32'd1; start(); end
      "u_alu.DoneWasRead_A": read_done();
      "u_alu.StartsAFreeOne_A": begin start(); start(.read(1'b0)); end
      "u_alu.AnswersAStarted_A": begin start(); m_release_index = 1'b1; answer(.written(1'b0)); m_release_index = 1'b0; end
      "u_alu.AnswersWhatIsOut_A": begin write_word(); answer(.released(1'b0), .out(1'b0)); end
      "u_alu.OutIsAnAnswer_A": answer(.written(1'b0), .released(1'b0));
      "u_alu.CountsOne_A": begin start(); answer(.written(1'b0), .swap(1'b1)); end
      "u_alu.EventIsOfAStream_A": begin some_event.kind = QpEventLocalError; m_event = 1'b1; edges(); m_event = 1'b0; end
      "u_alu.BusyWhenItStarted_A": start(.busy(1'b0));
      default: ;
    endcase
  endtask

  logic               p_take, p_sctp_take, p_dma, p_record, p_event, p_freed, p_told, p_unused, p_state, p_places, p_begun, p_pop, p_end, p_next, p_use, p_row;
  logic               p_room;
  logic [31:0]        p_offset;
  fpdu_beat_t         p_in;
  placed_segment_t    p_record_of;
  ddp_placement_checker #(.BeatBytes(16)) u_placement (
    .clk_i, .rst_ni, .in_valid_i(p_take), .in_ready_o(p_take), .in_i(p_in), .in_offset_i(p_offset), .sctp_in_valid_i(p_sctp_take),
    .sctp_in_ready_o(p_sctp_take), .sctp_in_i(p_in), .sctp_in_offset_i(p_offset), .dma_ready_i(1'b1), .dma_valid_o(p_dma), .dma_o(some_write),
    .out_ready_i(1'b1), .out_valid_o(p_record), .out_o(p_record_of), .event_ready_i(p_room), .event_valid_o(p_event), .event_o(some_event),
    .rqe_taken_ready_i(1'b1), .rqe_taken_valid_o(p_freed), .srq_event_ready_i(1'b1), .srq_event_valid_o(p_told), .unused_take_o(p_unused),
    .event_write_o(p_row), .state_write_o(p_state), .places_o(p_places), .begun_o(p_begun), .reads_pop_o(p_pop), .stag_end_o(p_end),
    .rq_next_o(p_next), .rq_use_o(p_use)
  );
  // A segment of one beat is judged, by MPA or by SCTP.
  task automatic judge(input logic state = 1'b1, input logic places = 1'b1, input logic sctp = 1'b0);
    p_in = beat_of(1'b1, 1'b1, 3);
    p_take = !sctp; p_sctp_take = sctp; p_state = state; p_places = places; edges();
    {p_take, p_sctp_take, p_state, p_places, p_begun, p_pop, p_end, p_next, p_use} = '0;
  endtask
  task automatic place(input logic notify = 1'b1, input logic record = 1'b1, input logic awaits = 1'b1, input logic dma = 1'b1);
    some_write.notify = notify; p_dma = dma; p_record = record; p_record_of.awaits_write = awaits; edges(); p_dma = 1'b0; p_record = 1'b0;
  endtask
  task automatic two_beats(input logic sctp, input logic [31:0] second_at);
    p_in = beat_of(1'b1, 1'b0, 4); p_take = !sctp; p_sctp_take = sctp; edges();
    p_in = beat_of(1'b0, 1'b1, 2); p_offset = second_at; edges(); p_take = 1'b0; p_sctp_take = 1'b0;
  endtask
  task automatic placement_cases;
    some_write = '0; some_write.bytes = 32'd100; p_record_of = '0;
    some_event = '0; some_event.kind = QpEventStreamError;
    case (name)
      "good": begin
        judge(); place(.notify(1'b0), .record(1'b0)); place(); place(.record(1'b0)); place(.dma(1'b0)); place(.dma(1'b0), .awaits(1'b0));
        two_beats(1'b0, 32'd16); judge(.sctp(1'b1));
      end
      "u_placement.OneLayerAtATime_A": begin p_state = 1'b1; edges(); p_state = 1'b0; end
      "u_placement.JudgesWithRoom_A": begin p_room = 1'b0; in_reset(); judge(); p_room = 1'b1; end
      "u_placement.BuffersFollow_A": two_beats(1'b0, 32'd12);
      "u_placement.SctpBuffersFollow_A": two_beats(1'b1, 32'd12);
      "u_placement.WriteHasOctets_A": begin some_write.bytes = '0; place(); end
      "u_placement.RecordComesNext_A": begin place(.record(1'b0)); place(); end
      "u_placement.LastWriteFirst_A": place(.notify(1'b0));
      "u_placement.NoWriteNoWait_A": place(.awaits(1'b0));
      "u_placement.OpcodeIsAssigned_A": begin p_record_of.opcode = 4'd12; place(); end
      "u_placement.LayerOfTheEnd_A": begin p_record_of.in_order = 1'b1; place(); end
      "u_placement.EventIsAnError_A": begin some_event.kind = QpEventSendDrained; p_event = 1'b1; edges(); p_event = 1'b0; end
      "u_placement.ErrorPlacesNothing_A": begin p_begun = 1'b1; judge(.places(1'b0)); end
      "u_placement.UsesWhatItAskedFor_A": begin p_use = 1'b1; judge(); end
      "u_placement.EndsItsRead_A": begin p_pop = 1'b1; judge(.state(1'b0)); end
      "u_placement.InvalidatesAtTheEnd_A": begin p_end = 1'b1; judge(.places(1'b0)); end
      "u_placement.EventOfItsRow_A": begin p_row = 1'b1; edges(); p_row = 1'b0; end
      "u_placement.FreesWhatIsThere_A": begin p_freed = 1'b1; edges(); p_freed = 1'b0; end
      "u_placement.TellsWhatIsThere_A": begin p_told = 1'b1; edges(); p_told = 1'b0; end
      "u_placement.TakesWhatIsUnused_A": begin p_unused = 1'b1; edges(); p_unused = 1'b0; end
      default: ;
    endcase
  endtask

  task automatic block_cases;
    stream_block_cases();
    deframer_cases();
    irrq_cases();
    response_cases();
    terminate_cases();
    alu_cases();
    placement_cases();
  endtask
