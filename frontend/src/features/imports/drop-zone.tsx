/** A file input as large as its label: browsers let people drop files on it, too, and it works by keyboard and touch. */
import { useState } from 'react';

import { Icon } from '../../ui/icon';
import classes from './imports.module.css';

export interface DropZoneProps {
  hint: string;
  onFiles: (files: readonly File[]) => void;
}

export function DropZone({ hint, onFiles }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  return (
    <label className={classes.drop} data-over={isOver || undefined}>
      <input
        type="file"
        multiple
        className={classes.files}
        onDragEnter={() => setIsOver(true)}
        onDragLeave={() => setIsOver(false)}
        onDrop={() => setIsOver(false)}
        onChange={({ currentTarget }) => {
          onFiles(Array.from(currentTarget.files ?? []));
          currentTarget.value = ''; // So that the same file can be chosen again.
        }}
      />
      <Icon name="imports" size={22} />
      <span>
        Drop files here, or <span className={classes.choose}>choose files</span>
      </span>
      <span className={classes.quiet}>{hint}</span>
    </label>
  );
}
