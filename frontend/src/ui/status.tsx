/** A state as icon and word on a coloured pill. Meaning never depends on colour alone. */
import { Icon, type IconName } from './icon';
import classes from './status.module.css';
import tones from './tones.module.css';

export type Tone = 'good' | 'bad' | 'unsure' | 'busy' | 'quiet' | 'demo';

export interface Badge {
  tone: Tone;
  icon: IconName;
  word: string;
}

export function Status({
  look: badge,
  title,
}: {
  look: Badge;
  title?: string | undefined;
}) {
  return (
    <span className={`${classes.status} ${tones[badge.tone]}`} title={title}>
      <Icon name={badge.icon} size={14} />
      {badge.word}
    </span>
  );
}
