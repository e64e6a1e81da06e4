// All checkers on our blocks, for a design that has the ten of them and links. For one block, its line alone.
bind link                link_checker                #(.Width(Width), .Depth(Depth), .Latency(Latency), .CreditLatency(CreditLatency)) u_checker (.*);
bind mpa_framer          mpa_framer_checker          #(.BeatBytes(BeatBytes), .PipelineCycles(PipelineCycles)) u_checker (.*);
bind marker_inserter     marker_inserter_checker     #(.BeatBytes(BeatBytes), .PipelineCycles(PipelineCycles)) u_checker (.*);
bind crc_insert          crc_insert_checker          #(.BeatBytes(BeatBytes), .PipelineCycles(PipelineCycles)) u_checker (.*);
bind mpa_deframer        mpa_deframer_checker        #(.BeatBytes(BeatBytes), .PipelineCycles(PipelineCycles), .QueueFpdus(QueueFpdus)) u_checker (.*);
bind crc_check           crc_check_checker           #(.BeatBytes(BeatBytes), .PipelineCycles(PipelineCycles)) u_checker (.*);
bind ddp_placement       ddp_placement_checker       #(.BeatBytes(BeatBytes)) u_checker (.*);
bind irrq                irrq_checker                u_checker (.*);
bind atomic_alu          atomic_alu_checker          #(.Operations(Operations)) u_checker (.*);
bind response_queue      response_queue_checker      #(.WriteBits(WriteBits)) u_checker (.*);
bind terminate_generator terminate_generator_checker #(.QpBits(QpBits)) u_checker (.*);
