/** Texts of a target's readings and of the actions on it. */
import type { EventAxis, Target, TargetAction } from '../../api/types';
import { conditionFormat, THERMAL_STATUS } from '../../lib/conditions';

type Readings = NonNullable<Target['gates']>;

export const UNKNOWN = 'not known';

function readingText<T>(value: T | null, format: (value: T) => string): string {
  return value === null ? UNKNOWN : format(value);
}

/** Returns the readings as text. An unknown reading is shown as unknown: an unknown thermal status does not mean cool. */
export function readingTexts(
  readings: Readings,
): readonly (readonly [name: string, words: string])[] {
  const {
    battery_c: heat,
    battery_percent: charge,
    charging,
    thermal_status: status,
    free_bytes: free,
  } = readings;
  const plugged =
    charging === null ? '' : charging ? ', charging' : ', not charging';
  return [
    [
      'Battery',
      `${readingText(heat, conditionFormat('battery_c'))}, ` +
        `${readingText(charge, conditionFormat('battery_percent'))}${plugged}`,
    ],
    [
      'Thermal status',
      readingText(status, (value) => THERMAL_STATUS[value] ?? String(value)),
    ],
    ['Free space', readingText(free, conditionFormat('free_bytes'))],
  ];
}

export const AXIS_LABELS: Record<EventAxis, string> = {
  connection: 'connection',
  health: 'health',
  maintenance: 'maintenance',
  order: 'orders',
  recovery: 'recovery',
};

export interface ActionText {
  label: string;
  title: (name: string) => string;
  /** What the action does and does not do, shown before it is confirmed. */
  meaning: string;
  reason: 'needed' | 'welcome' | 'none';
  confirm: string;
}

const NOT_BEFORE = 'It happens once the device is free.';

export const ACTIONS: Record<TargetAction, ActionText> = {
  maintenance: {
    label: 'Start maintenance',
    title: (name) => `Maintenance of ${name}`,
    meaning:
      'It takes no new jobs; a running job continues. Ending the ' +
      'maintenance does not end a quarantine.',
    reason: 'welcome',
    confirm: 'Start maintenance',
  },
  quarantine: {
    label: 'Quarantine',
    title: (name) => `Quarantine ${name}`,
    meaning:
      'It takes no jobs until a person releases it, whatever its health checks say.',
    reason: 'needed',
    confirm: 'Quarantine',
  },
  release: {
    label: 'Release',
    title: (name) => `Release ${name} from quarantine`,
    meaning:
      'It is checked first and takes jobs once that passes. Read the evidence first.',
    reason: 'needed',
    confirm: 'Release',
  },
  recheck: {
    label: 'Check again',
    title: (name) => `Check ${name} again`,
    meaning: `A health check takes about half a minute. ${NOT_BEFORE}`,
    reason: 'none',
    confirm: 'Check',
  },
  reboot: {
    label: 'Restart',
    title: (name) => `Restart ${name}`,
    meaning: `The device restarts and is checked before its next job. ${NOT_BEFORE}`,
    reason: 'none',
    confirm: 'Restart',
  },
};

export const END_MAINTENANCE: ActionText = {
  label: 'End maintenance',
  title: (name) => `End the maintenance of ${name}`,
  meaning: 'It takes jobs again if its health and connection allow.',
  reason: 'none',
  confirm: 'End maintenance',
};

/** The agent's finding about a phone that accepts ADB over the network only until it restarts. */
const LOST_BY_RESTART = 'restart_loses_it';

/** Returns the text of the dialog that confirms an action on this target. */
export function actionTextOf(target: Target, action: TargetAction): ActionText {
  if (action === 'maintenance' && target.maintenance !== null)
    return END_MAINTENANCE;
  const words = ACTIONS[action];
  const lost = target.preflight.find(({ code }) => code === LOST_BY_RESTART);
  if (action !== 'reboot' || lost === undefined) return words;
  return {
    ...words,
    meaning: `It cannot come back without a person. ${lost.text} ${lost.advice} ${words.meaning}`,
  };
}
