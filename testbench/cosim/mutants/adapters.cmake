# Faults planted in the parts of port maps' adapters, one at a time: adapted_block_test must find each. `name` is an adapted block of
# ../CMakeLists.txt.
function(rnic_adapter_mutant name fault)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "FILE;FIND;PUT;TEST" "")
  set(original ${PROJECT_SOURCE_DIR}/rtl-stubs/adapter/${ARG_FILE})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(FIND "${text}" "${ARG_FIND}" at)
  string(FIND "${text}" "${ARG_FIND}" last REVERSE)
  if(at EQUAL -1 OR NOT at EQUAL last)
    message(FATAL_ERROR "mutant ${name}.${fault}: what it replaces must stand exactly once in ${ARG_FILE}: ${ARG_FIND}")
  endif()
  string(REPLACE "${ARG_FIND}" "${ARG_PUT}" text "${text}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/adapter.${fault})
  file(GENERATE OUTPUT ${folder}/${ARG_FILE} CONTENT "${text}")

  get_target_property(sources rnic_adapted_${name} RTL_SOURCES)
  list(TRANSFORM sources REPLACE "^.*/adapter/${ARG_FILE}$" ${folder}/${ARG_FILE})
  rnic_run_verilator(${folder}/verilated ${name} "-Wno-fatal;-Wno-lint" ${sources})
  set(program mutant_adapter_${fault})
  add_executable(${program} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:adapted_block_test> ${folder}/verilated/V${name}__ALL.cpp)
  target_include_directories(${program} SYSTEM PRIVATE ${folder}/verilated)
  target_link_libraries(${program} PRIVATE $<TARGET_PROPERTY:adapted_block_test,LINK_LIBRARIES>)
  target_compile_options(${program} PRIVATE -O1 -w)
  add_dependencies(mutants ${program})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  add_test(NAME mutant.adapter.${fault} COMMAND ${program} --gtest_filter=${ARG_TEST})
  set_tests_properties(mutant.adapter.${fault} PROPERTIES LABELS "mutants;long" TIMEOUT 600
    PASS_REGULAR_EXPRESSION "1 tests: 0 passed, 1 failed")
endfunction()

set(gives TEST AxisCrc.GivesWhatTheStageGives)
rnic_adapter_mutant(axis_crc marker_a_lane_late ${gives} FILE fpdu_through.sv
  FIND [=[else if (lane > 32'(in_i.marker_lane)) words]=] PUT [=[else if (lane > 32'(in_i.marker_lane) + 1) words]=])
rnic_adapter_mutant(axis_crc marker_stays_in ${gives} FILE fpdu_through.sv
  FIND [=[if (lane >= 32'(beat.marker_lane)) data]=] PUT [=[if (lane > 32'(beat.marker_lane)) data]=])
rnic_adapter_mutant(axis_crc our_own_marker_returns ${gives} FILE fpdu_through.sv
  FIND [=[left.marker = got[32*32'(beat.marker_lane)+:32];]=] PUT [=[left.marker = got[31:0];]=])
rnic_adapter_mutant(axis_crc stand_in_has_a_crc ${gives} FILE fpdu_through.sv
  FIND [=[in_i.crc_on && !in_i.placed && !in_i.ends]=] PUT [=[in_i.crc_on]=])
rnic_adapter_mutant(axis_crc verdict_in_every_beat ${gives} FILE fpdu_through.sv
  FIND [=[taken.crc_ok        = 1'b0;]=] PUT [=[taken.crc_ok        = taken.crc_ok;]=])
rnic_adapter_mutant(axis_crc launch_without_room TEST AxisCrc.GivesWhatTheStageGives FILE fpdu_through.sv
  FIND [=[there && out_ready_i && ]=] PUT [=[there && ]=])
rnic_adapter_mutant(axis_crc every_other_cycle TEST AxisCrc.KeepsUp FILE axis_to_words.sv
  FIND [=[ && stays <= 7'(OutWords);]=] PUT [=[ && pending_q <= 7'(OutWords);]=])
rnic_adapter_mutant(axis_crc_narrow first_in_every_beat TEST AxisCrcNarrow.GivesWhatTheStageGives FILE words_to_axis.sv
  FIND [=[first_d    = give ? tlast_o : first_q;]=] PUT [=[first_d    = 1'b1;]=])
rnic_adapter_mutant(axis_crc_narrow keep_is_full TEST AxisCrcNarrow.GivesWhatTheStageGives FILE words_to_axis.sv
  FIND [=[{4{7'(i) < pending_q}}]=] PUT [=[4'hf]=])
rnic_adapter_mutant(axis_crc_narrow packets_run_together TEST AxisCrcNarrow.GivesWhatTheStageGives FILE words_to_axis.sv
  FIND [=[assign in_ready_o = !whole && ]=] PUT [=[assign in_ready_o = ]=])
rnic_adapter_mutant(axis_crc fields_of_the_next_beat ${gives} FILE words_to_axis.sv
  FIND [=[stays < 7'(OutWords)]=] PUT [=[stays <= 7'(OutWords)]=])
rnic_adapter_mutant(axis_markers_block last_comes_while_it_waits TEST AxisMarkers.GivesWhatTheStageGives FILE words_to_axis.sv
  FIND [=[assign tlast_o  = complete_q && left == '0;]=] PUT [=[assign tlast_o  = complete_q && left == '0 && tready_i;]=])
rnic_adapter_mutant(axis_crc_narrow every_fpdu_is_judged TEST AxisCrcNarrow.GivesWhatTheStageGives FILE fpdu_through.sv
  FIND [=[if (CrcAlways && taken.crc_ok]=] PUT [=[if (1'b0]=])
rnic_adapter_mutant(axis_crc_narrow takes_more_than_fits TEST AxisCrcNarrow.GivesWhatTheStageGives FILE axis_to_words.sv
  FIND [=[(!complete_q || ends_i) && ]=] PUT [=[]=])
rnic_adapter_mutant(fcs_append_block full_beat_leaves_at_once TEST FcsAppend.GivesWhatTheStageGives FILE words_to_axis.sv
  FIND [=[(full && !MayEnd)]=] PUT [=[full]=])
rnic_adapter_mutant(fcs_append_block seals_without_crc TEST FcsAppend.GivesWhatTheStageGives FILE fpdu_through.sv
  FIND [=[keeps_crc = !OutHasCrc || (!beat.crc_on && (CrcAlways || !InHasCrc))]=] PUT [=[keeps_crc = !OutHasCrc]=])
rnic_adapter_mutant(fcs_append_block one_edge_of_reset TEST FcsAppend.BehavesAsNewAfterAReset FILE reset_hold.sv
  FIND [=[left_q <= Bits'(Cycles - 1);]=] PUT [=[left_q <= '0;]=])
set(marks TEST AxisMarkers.GivesWhatTheStageGives)
rnic_adapter_mutant(axis_markers_block two_fpdus_inside ${marks} FILE fpdu_remade.sv
  FIND [=[in_ready_o = takes && !whole_q && !waits_i;]=] PUT [=[in_ready_o = takes && !waits_i;]=])
rnic_adapter_mutant(axis_markers_block full_beat_is_not_the_last ${marks} FILE fpdu_cut.sv
  FIND [=[complete && rest <= 7'(BeatWords);]=] PUT [=[complete && rest < 7'(BeatWords);]=])
rnic_adapter_mutant(axis_markers_block start_is_that_of_every_beat ${marks} FILE fpdu_remade.sv
  FIND [=[if (take && in_i.first) {s_markers_o]=] PUT [=[if (take) {s_markers_o]=])
rnic_adapter_mutant(axis_markers_block completes_in_every_beat ${marks} FILE fpdu_cut.sv
  FIND [=[if (!last) left.completes_wqe = 1'b0;]=] PUT [=[]=])
rnic_adapter_mutant(axis_markers_block start_stays_in_the_marker ${marks} FILE fpdu_remade.sv
  FIND [=[    fields.marker = '0;]=] PUT [=[    fields.marker = latest.marker;]=])
set(frames TEST AxisFramer.GivesWhatTheStageGives)
rnic_adapter_mutant(axis_framer_block octets_after_the_end ${frames} FILE words_to_axis.sv
  FIND [=[4'hf >> lacks_q]=] PUT [=[4'hf]=])
rnic_adapter_mutant(axis_framer_block start_in_every_beat ${frames} FILE fpdu_cut.sv
  FIND [=[if (!first_q) left.marker = '0;]=] PUT [=[]=])
rnic_adapter_mutant(axis_framer_block no_room_for_the_crc ${frames} FILE fpdu_cut.sv
  FIND [=[pending + 7'(!HasCrc)]=] PUT [=[pending]=])
rnic_adapter_mutant(axis_framer_block next_one_is_taken ${frames} FILE fpdu_framed.sv
  FIND [=[takes && !open_q && !waits_i]=] PUT [=[takes && !waits_i]=])
rnic_adapter_mutant(terminate_generator message_in_reset TEST TermMaker.GivesWhatTheStageGives FILE handshake.sv
  FIND [=[giver_ready_o = taker_ready_i && !waits_i]=] PUT [=[giver_ready_o = taker_ready_i]=])
rnic_adapter_mutant(terminate_generator gives_without_credit TEST TermMaker.GivesWhatTheStageGives FILE handshake.sv
  FIND [=[ && (taker_ready_i || !TheyGive)]=] PUT [=[]=])
rnic_adapter_mutant(terminate_generator asleep_at_work TEST TermMaker.FinishesWhatCameLast FILE stays_awake.sv
  FIND [=[left_q <= Bits'(Cycles);]=] PUT [=[left_q <= '0;]=])
