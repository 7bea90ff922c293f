# `hpcboot run`: the plan, the agents, and the fates of ranks.
if(NOT TARGET hpcboot_run)
  return()
endif()

hpcboot_add_test(NAME run_children_test
  SOURCES
    bootstrap/jobs/run/launcher/control_test.cpp
    bootstrap/jobs/run/launcher/lost_hosts_test.cpp
    bootstrap/jobs/run/launcher/rank_parent_test.cpp
    bootstrap/jobs/run/ranks/event_loop_test.cpp
    bootstrap/jobs/run/ranks/out_stream_test.cpp
    bootstrap/jobs/run/ranks/output_lines_test.cpp
    bootstrap/jobs/run/ranks/rank_child_test.cpp
    bootstrap/jobs/run/ranks/rank_environment_test.cpp
    bootstrap/jobs/run/ranks/rank_log_test.cpp
    bootstrap/jobs/run/ranks/rank_stacks_test.cpp
    bootstrap/jobs/run/ranks/silence_test.cpp
    bootstrap/jobs/run/ranks/stop_requests_test.cpp
    bootstrap/process/command_test.cpp
  LIBRARIES hpcboot_run hpcboot_store LABELS unit)
target_include_directories(run_children_test PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)

hpcboot_add_test(NAME run_plan_tests
  SOURCES
    bootstrap/jobs/run/plan/dry_run_test.cpp
    bootstrap/jobs/run/plan/launch_command_test.cpp
    bootstrap/jobs/run/plan/launcher_choice_test.cpp
    bootstrap/jobs/run/plan/layout_test.cpp
    bootstrap/jobs/run/plan/plan_test.cpp
    bootstrap/jobs/run/plan/program_needs_test.cpp
    bootstrap/jobs/run/plan/working_folder_test.cpp
    support/unchanged_environment.cpp
  LIBRARIES hpcboot_run LABELS unit)

hpcboot_add_test(NAME run_agents_test
  SOURCES
    bootstrap/jobs/run/agents/agent_test.cpp
    bootstrap/jobs/run/agents/agents_ends_test.cpp
    bootstrap/jobs/run/agents/agents_hosts_test.cpp
    bootstrap/jobs/run/agents/agents_main.cpp
    bootstrap/jobs/run/agents/agents_output_test.cpp
    bootstrap/jobs/run/agents/agents_ranks_test.cpp
    bootstrap/jobs/run/agents/agents_signals_test.cpp
    bootstrap/jobs/run/agents/silence_test.cpp
    bootstrap/jobs/run/agents/stacks_of_ranks_test.cpp
  LIBRARIES hpcboot_run LABELS unit TIMEOUT 120)

# One file per scheduler.
hpcboot_add_test(NAME run_job_tests
  SOURCES
    bootstrap/jobs/run/job/attempts_test.cpp
    bootstrap/jobs/run/job/flux_job_test.cpp
    bootstrap/jobs/run/job/grid_engine_job_test.cpp
    bootstrap/jobs/run/job/lsf_job_test.cpp
    bootstrap/jobs/run/job/next_step_test.cpp
    bootstrap/jobs/run/job/pbs_job_test.cpp
    bootstrap/jobs/run/job/pbs_submission_test.cpp
    bootstrap/jobs/run/job/scheduler_job_test.cpp
    bootstrap/jobs/run/job/slurm_job_test.cpp
    bootstrap/jobs/run/job/slurm_sbatch_test.cpp
    bootstrap/jobs/run/job/walltime_clock_test.cpp
  LIBRARIES hpcboot_run LABELS unit)

hpcboot_add_test(NAME run_stage_test SOURCES bootstrap/jobs/run/stage/stage_test.cpp support/pretended_file_system.cpp
  LIBRARIES hpcboot_run LABELS unit)
