/** Why a job failed, in words, and what to do about it. Exhaustive over the causes of contract C2. */
import type { Cause } from '../../api/types';

export interface CauseText {
  title: string;
  advice: string;
}

export const FAILURE_CAUSES: Record<Cause, CauseText> = {
  stream_invalid: {
    title: 'The workload printed something that is not a bench stream',
    advice:
      'The detail names line and fault. Print only JSON events on stdout; messages for people go to stderr.',
  },
  workload_hung: {
    title: 'The workload stopped making progress',
    advice:
      'Run it by hand with the same arguments. If it is only slow, raise launch_timeout_s in suite.toml.',
  },
  workload_flooded: {
    title: 'The workload printed far more than it may',
    advice:
      'Look for a debugging print in a loop; the log shows what it wrote.',
  },
  workload_crashed: {
    title: 'The workload crashed',
    advice: 'Run it by hand on the target to get a stack trace.',
  },
  workload_error: {
    title: 'The workload reported an error itself',
    advice: 'Its own message is in the detail and in the log.',
  },
  workload_no_terminal: {
    title: 'The workload ended without saying it was done',
    advice:
      'A workload must print a done or error event as its last line, also when it exits 0.',
  },
  check_failed: {
    title: 'A correctness check failed',
    advice:
      'Timings of wrong code do not count. Repair the arm the check names; see the checks below.',
  },
  build_failed: {
    title: 'The build failed',
    advice: 'Run the failing step by hand at this commit on the agent’s host.',
  },
  suite_invalid: {
    title: 'The suite.toml at this commit is not valid',
    advice:
      'The detail names file, line and what was expected. `paceline` validates it on the command line too.',
  },
  checkout_failed: {
    title: 'The agent could not check out the commit',
    advice:
      'Check that the commit exists in the repository the agent is configured with and that it may read it.',
  },
  agent_lost: {
    title: 'The agent stopped answering',
    advice:
      'Look at the host. Samples so far are kept and marked partial; late ones still count.',
  },
  agent_error: {
    title: 'The agent met an error of its own',
    advice:
      'The agent’s log has the details. This says nothing about the code measured.',
  },
  disk_full: {
    title: 'The agent’s disk is full',
    advice:
      'Free space on the host. Nothing acknowledged is lost; the agent takes no jobs until there is room.',
  },
  target_refused: {
    title: 'The target refused the job',
    advice: 'Its preflight says why: see the target’s page.',
  },
  lease_lost: {
    title: 'The agent lost its lease on the job',
    advice:
      'Usually the network or a stalled host. The run can simply be requested again.',
  },
  device_lost: {
    title: 'The device could not be reached any more',
    advice:
      'Its cable, its port or its hub. The device is checked before its next job: see its page.',
  },
  device_rebooted: {
    title: 'The device restarted in the middle of the job',
    advice:
      'What it measured before says nothing about after. Its page has when and how often it restarted.',
  },
  device_refused: {
    title: 'The device refused what the job needs',
    advice:
      'The detail names what it refused. Unlock it and look at its screen, then check it again.',
  },
  device_storage_full: {
    title: 'The device has no room left',
    advice:
      'Free space on the device; its health check says how much there is.',
  },
  device_unauthorized: {
    title: 'The device does not trust its agent',
    advice:
      'Unlock it and accept the prompt on its screen, or connect it again to see the prompt.',
  },
  placing_failed: {
    title: 'The job’s files on the device are not what was built',
    advice:
      'The detail says which file, what was expected and what was found. Nothing was measured.',
  },
  analysis_failed: {
    title: 'The server could not analyse what was measured',
    advice:
      'A fault of the server, not of what was measured. Samples are kept; its log has the details.',
  },
  cancelled: {
    title: 'Cancelled',
    advice: 'Somebody cancelled the run or the agent was asked to stop.',
  },
};

/** Of a job that ended though nothing went wrong in it: nobody took it. */
export const NO_CAUSE: CauseText = {
  title: 'The job ended before it began',
  advice:
    'Is the target online, in good health and free of maintenance? Repeat the run when it is.',
};
