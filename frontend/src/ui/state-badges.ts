/** The badges and labels of states, causes, kinds and actions: one table for each, which its type makes complete. */
import type {
  AlertAction,
  AlertCause,
  AlertKind,
  AlertState,
  Connection,
  HealthState,
  Job,
  Judged,
  Outcome,
  PreflightFinding,
  Run,
  Target,
  Trigger,
} from '../api/types';
import type { Badge } from './status';

export const VERDICTS: Record<Judged, Badge> = {
  pass: { tone: 'good', icon: 'check', word: 'pass' },
  fail: { tone: 'bad', icon: 'cross', word: 'fail' },
  inconclusive: { tone: 'unsure', icon: 'question', word: 'inconclusive' },
  not_applicable: { tone: 'quiet', icon: 'muted', word: 'not applicable' },
};

export const RUN_STATES: Record<Run['state'], Badge> = {
  queued: { tone: 'quiet', icon: 'clock', word: 'queued' },
  active: { tone: 'busy', icon: 'play', word: 'running' },
  done: { tone: 'good', icon: 'check', word: 'done' },
  failed: { tone: 'bad', icon: 'cross', word: 'failed' },
  cancelled: { tone: 'quiet', icon: 'stop', word: 'cancelled' },
};

/** Badges of the outcome of a run or a job, which the server decides. */
export const OUTCOMES: Record<Outcome, Badge> = {
  queued: RUN_STATES.queued,
  running: RUN_STATES.active,
  pass: VERDICTS.pass,
  fail: VERDICTS.fail,
  inconclusive: VERDICTS.inconclusive,
  failed: RUN_STATES.failed,
  lost: { tone: 'bad', icon: 'warning', word: 'lost' },
  expired: { tone: 'bad', icon: 'clock', word: 'expired' },
  cancelled: RUN_STATES.cancelled,
};

/** Returns whether a run or a job ended without a verdict. */
export function hasNoVerdict(outcome: Outcome): boolean {
  return ['failed', 'lost', 'expired', 'cancelled'].includes(outcome);
}

export const JOB_STATES: Record<Job['state'], Badge> = {
  queued: { tone: 'quiet', icon: 'clock', word: 'queued' },
  leased: { tone: 'busy', icon: 'play', word: 'leased' },
  preparing: { tone: 'busy', icon: 'wrench', word: 'preparing' },
  measuring: { tone: 'busy', icon: 'runs', word: 'measuring' },
  uploading: { tone: 'busy', icon: 'arrowRight', word: 'uploading' },
  analysing: { tone: 'busy', icon: 'eye', word: 'analysing' },
  done: { tone: 'good', icon: 'check', word: 'done' },
  failed: { tone: 'bad', icon: 'cross', word: 'failed' },
  cancelled: { tone: 'quiet', icon: 'stop', word: 'cancelled' },
  lost: { tone: 'bad', icon: 'warning', word: 'lost' },
  expired: { tone: 'quiet', icon: 'clock', word: 'expired' },
};

export const ALERT_STATES: Record<AlertState, Badge> = {
  suspected: { tone: 'busy', icon: 'eye', word: 'suspected' },
  unconfirmed: { tone: 'quiet', icon: 'muted', word: 'unconfirmed' },
  inconclusive: { tone: 'unsure', icon: 'question', word: 'inconclusive' },
  open: { tone: 'bad', icon: 'alerts', word: 'open' },
  acknowledged: { tone: 'unsure', icon: 'user', word: 'acknowledged' },
  fixed: { tone: 'good', icon: 'check', word: 'fixed' },
  expected: { tone: 'quiet', icon: 'check', word: 'expected' },
  invalid: { tone: 'quiet', icon: 'cross', word: 'invalid' },
  infra: { tone: 'quiet', icon: 'wrench', word: 'infra' },
  vanished: { tone: 'quiet', icon: 'muted', word: 'vanished' },
};

/** Meanings of the states for the person who triages; shown on tiles and in tooltips. */
export const ALERT_STATE_MEANING: Record<AlertState, string> = {
  suspected:
    'Seen once. A confirmation run is on its way; nobody is notified yet.',
  unconfirmed: 'The confirmation run did not show it again.',
  inconclusive:
    'The confirmation run was inconclusive or failed; see the history.',
  open: 'Confirmed. Nobody has taken it yet.',
  acknowledged: 'Someone is working on it.',
  fixed: 'The effect is gone, or someone marked it as fixed.',
  expected: 'Known and accepted.',
  invalid: 'A false alarm.',
  infra: 'The target or the environment, not the code.',
  vanished: 'More measurements show no such change. Counted as a false alarm.',
};

export const ALERT_CAUSES: Record<AlertCause, Badge> = {
  code: { tone: 'bad', icon: 'branch', word: 'code' },
  environment: { tone: 'unsure', icon: 'wrench', word: 'environment' },
  target: { tone: 'busy', icon: 'targets', word: 'target' },
};

export const ALERT_KINDS: Record<AlertKind, string> = {
  arm_slower: 'arm against reference',
  history: 'change in history',
  environment: 'change of environment',
  policy: 'usage policy',
  gate: 'gate',
  missing: 'vanished cases',
  schedule: 'scheduled run',
  schedule_missed: 'scheduled run that did not happen',
  quarantine: 'target in quarantine',
  agent_silent: 'silent agent',
  import_stopped: 'import that stopped',
};

export const SHADOW: Badge = { tone: 'demo', icon: 'eye', word: 'shadow' };
export const OVERDUE: Badge = { tone: 'bad', icon: 'clock', word: 'overdue' };

export const TARGET_STATES: Record<Target['state'], Badge> = {
  online: { tone: 'good', icon: 'check', word: 'online' },
  busy: { tone: 'busy', icon: 'play', word: 'busy' },
  offline: { tone: 'quiet', icon: 'muted', word: 'offline' },
};

/** The badge of a state that a person sets; the states that health checks set are in `HEALTH_STATES`. */
export const MAINTENANCE_BADGES: Record<'maintenance', Badge> = {
  maintenance: { tone: 'unsure', icon: 'wrench', word: 'maintenance' },
};

export const CONNECTION_STATES: Record<Connection['state'], Badge> = {
  online: { tone: 'good', icon: 'check', word: 'online' },
  booting: { tone: 'busy', icon: 'clock', word: 'booting' },
  unauthorized: { tone: 'bad', icon: 'lock', word: 'unauthorized' },
  offline: { tone: 'bad', icon: 'warning', word: 'offline' },
  absent: { tone: 'quiet', icon: 'muted', word: 'absent' },
};

export const HEALTH_STATES: Record<HealthState, Badge> = {
  unknown: { tone: 'quiet', icon: 'question', word: 'unknown' },
  checking: { tone: 'busy', icon: 'eye', word: 'checking' },
  good: { tone: 'good', icon: 'check', word: 'good' },
  recovering: { tone: 'busy', icon: 'cooling', word: 'recovering' },
  suspect: { tone: 'unsure', icon: 'warning', word: 'suspect' },
  quarantined: { tone: 'bad', icon: 'blocked', word: 'quarantined' },
};

export const PREFLIGHT_LEVELS: Record<PreflightFinding['level'], Badge> = {
  info: { tone: 'quiet', icon: 'info', word: 'info' },
  warning: { tone: 'unsure', icon: 'warning', word: 'warning' },
  blocker: { tone: 'bad', icon: 'blocked', word: 'blocker' },
};

export const SIMULATED: Badge = {
  tone: 'demo',
  icon: 'flask',
  word: 'simulated',
};
export const DEMONSTRATION: Badge = {
  tone: 'demo',
  icon: 'flask',
  word: 'demonstration',
};

export const TRIGGER_LABELS: Record<Trigger, string> = {
  manual: 'manual',
  schedule: 'schedule',
  ci: 'CI',
  confirm: 'confirmation',
  bisect: 'bisect',
  a_a: 'A/A',
  import: 'imported',
  recorded: 'recorded',
};

export const ACTION_LABELS: Record<
  AlertAction,
  { label: string; done: string; key: string }
> = {
  acknowledge: { label: 'Acknowledge', done: 'acknowledged', key: 'a' },
  fixed: { label: 'Fixed', done: 'marked as fixed', key: 'f' },
  expected: { label: 'Expected', done: 'marked as expected', key: 'e' },
  invalid: { label: 'Invalid', done: 'marked as invalid', key: 'i' },
  infra: {
    label: 'Infrastructure',
    done: 'marked as infrastructure',
    key: 'x',
  },
  reopen: { label: 'Reopen', done: 'reopened', key: 'o' },
};
