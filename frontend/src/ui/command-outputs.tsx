/** Shows the unchanged outputs of commands on a device, which its readings were parsed from. */
import type { RawText } from '../api/types';
import { withoutAnsi } from '../lib/ansi';
import { formatInteger, formatNumber } from '../lib/units';
import classes from './command-outputs.module.css';
import { Status, type Badge } from './status';

const DONE: Badge = { tone: 'good', icon: 'check', word: 'exit 0' };

function lookOf({ status }: RawText): Badge {
  if (status === null)
    return { tone: 'bad', icon: 'warning', word: 'did not end' };
  return status === 0
    ? DONE
    : { tone: 'unsure', icon: 'cross', word: `exit ${status}` };
}

export interface CommandOutputsProps {
  label: string;
  texts: readonly RawText[];
}

export function CommandOutputs({ label, texts }: CommandOutputsProps) {
  return (
    <ul className={classes.list} aria-label={label}>
      {texts.map((raw, index) => (
        // The same command may run twice at the same instant.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={`${index} ${raw.command}`}>
          <details>
            <summary>
              <code className={classes.command}>{raw.command}</code>{' '}
              <Status look={lookOf(raw)} />{' '}
              <span className={classes.took}>
                {formatNumber(raw.took_ms)} ms, {formatInteger(raw.text.length)}{' '}
                characters
              </span>
            </summary>
            {raw.text === '' ? (
              <p className={classes.took}>No output.</p>
            ) : (
              // A region that scrolls must be reachable by keyboard (WCAG 2.1.1).
              <pre
                className={classes.text}
                role="region"
                aria-label={raw.command}
                tabIndex={0}
              >
                {withoutAnsi(raw.text)}
              </pre>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}
