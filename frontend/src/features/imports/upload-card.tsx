/** Shows one chosen file: what was recognised in it, or why it cannot be imported. */
import { Alert, Button, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

import { isApiError } from '../../api/errors';
import type { ImportPreview } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { CodeText } from '../../ui/code-text';
import { Icon } from '../../ui/icon';
import { Facts } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { LeftOutTable, SeriesTable } from './imported-runs';
import classes from './imports.module.css';
import { countOf, toolOf, type Upload, type UploadState } from './use-uploads';

const BADGES: Record<UploadState['kind'], Badge> = {
  reading: { tone: 'busy', icon: 'clock', word: 'reading' },
  refused: { tone: 'bad', icon: 'cross', word: 'cannot be imported' },
  recognised: { tone: 'good', icon: 'check', word: 'recognised' },
  storing: { tone: 'busy', icon: 'clock', word: 'importing' },
  stored: { tone: 'good', icon: 'check', word: 'imported' },
};

export interface UploadCardProps {
  upload: Upload;
  onRemove: () => void;
}

export function UploadCard({
  upload: { file, state },
  onRemove,
}: UploadCardProps) {
  const id = useId();
  return (
    <article className={classes.upload} aria-labelledby={id}>
      <div className={classes.uploadHead}>
        <Title order={3} size="h5" id={id} className={classes.fileName}>
          {file.name}
        </Title>
        <span className={classes.quiet}>{formatValue(file.size, 'bytes')}</span>
        <Status look={BADGES[state.kind]} />
        {state.kind !== 'storing' && (
          <Button
            variant="subtle"
            size="compact-xs"
            className={classes.remove}
            aria-label={`Take ${file.name} off the list`}
            onClick={onRemove}
          >
            Remove
          </Button>
        )}
      </div>
      <UploadBody name={file.name} state={state} />
    </article>
  );
}

function UploadBody({ name, state }: { name: string; state: UploadState }) {
  switch (state.kind) {
    case 'reading':
      return null;
    case 'refused':
      return <Refusal error={state.error} />;
    case 'stored': {
      const { document, isNew } = state.stored;
      return (
        <p className={classes.plain}>
          <AppLink to="/imports/$importId" params={{ importId: document.id }}>
            {isNew
              ? countOf(document.row_count, 'series', 'series')
              : 'Imported before, nothing changed'}
          </AppLink>
        </p>
      );
    }
    default:
      return (
        <>
          {state.kind === 'recognised' && state.error !== null && (
            <Refusal error={state.error} />
          )}
          <Preview name={name} preview={state.preview} />
        </>
      );
  }
}

/** How many reasons are shown at once. */
const LIKELIEST = 3;

type Reason = readonly [where: string, why: string];

/** Shows why a file is not imported; of several reasons, which the server ranks, the likeliest. */
function Refusal({ error }: { error: Error }) {
  const reasons = isApiError(error) ? Object.entries(error.fields) : [];
  const others = reasons.slice(LIKELIEST);
  return (
    <Alert color="red" variant="outline" icon={<Icon name="warning" />}>
      <CodeText text={error.message} />
      {reasons.length > 1 && <Reasons reasons={reasons.slice(0, LIKELIEST)} />}
      {others.length > 0 && (
        <details className={classes.lines}>
          <summary>{countOf(others.length, 'other reason')}</summary>
          <Reasons reasons={others} />
        </details>
      )}
    </Alert>
  );
}

function Reasons({ reasons }: { reasons: readonly Reason[] }) {
  return (
    <dl className={classes.reasons}>
      {reasons.map(([where, why]) => (
        <div key={where}>
          <dt>{where}</dt>
          <dd>{why}</dd>
        </div>
      ))}
    </dl>
  );
}

const stated = (value: ReactNode) => value ?? 'not stated';

function Preview({ name, preview }: { name: string; preview: ImportPreview }) {
  const { series, series_count: count, left_out: leftOut } = preview;
  return (
    <>
      <Facts
        items={[
          ['Tool', toolOf(preview)],
          ['Cases', formatInteger(preview.case_count)],
          ['Units', preview.units.join(', ')],
          ['Commit', stated(preview.commit)],
          ['Branch', stated(preview.branch)],
          [
            'Measured',
            stated(preview.at === null ? null : formatDateTime(preview.at)),
          ],
          ...Object.entries(preview.facts),
        ]}
      />
      {leftOut.length > 0 && (
        <div>
          <p className={classes.plain}>Left out: {leftOut.length}</p>
          <LeftOutTable label={`Left out of ${name}`} entries={leftOut} />
        </div>
      )}
      <details className={classes.lines}>
        <summary>Series: {formatInteger(count)}</summary>
        {series.length < count && (
          <p className={classes.quiet}>
            The first {formatInteger(series.length)} are listed.
          </p>
        )}
        <SeriesTable label={`Series of ${name}`} series={series} />
      </details>
    </>
  );
}
