/** Lists notes about this series or its whole target, and adds new ones. */
import { Alert, Button, Stack, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { annotate, removeAnnotation, seriesKeys } from '../../api/series';
import { may, sessionQuery } from '../../api/session';
import type { Annotation, SeriesPage, SeriesPoint } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { Segments } from '../../ui/segments';
import classes from './series.module.css';

export interface NotesPanelProps {
  page: SeriesPage;
  /** The point that a new note is about. */
  point: SeriesPoint | undefined;
}

export function NotesPanel({ page, point }: NotesPanelProps) {
  const session = useQuery(sessionQuery);
  const allowed = may(session.data, 'annotations.write');
  const notes = page.annotations.toSorted(
    (a, b) => Date.parse(b.at) - Date.parse(a.at),
  );
  return (
    <Panel title="Notes">
      {notes.length === 0 && (
        <p className={classes.first}>
          No notes. Add one to say what happened at a point, such as a new fan.
        </p>
      )}
      <ul className={classes.notes} aria-label="Notes">
        {notes.map((note) => (
          <Note
            key={note.id}
            note={note}
            seriesId={page.series.id}
            removable={allowed}
          />
        ))}
      </ul>
      {allowed && point !== undefined && <NoteForm page={page} point={point} />}
    </Panel>
  );
}

function useRefresh(seriesId: string) {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      queryKey: seriesKeys.one(seriesId),
      exact: true,
    });
}

function Note({
  note,
  seriesId,
  removable,
}: {
  note: Annotation;
  seriesId: string;
  removable: boolean;
}) {
  const refresh = useRefresh(seriesId);
  const remove = useMutation({
    mutationFn: () => removeAnnotation(note.id),
    onSuccess: refresh,
  });
  return (
    <li>
      <div>
        <strong>{formatDateTime(note.at)}</strong> {note.text}
        <div className={classes.quiet}>
          {note.created_by}
          {note.target_id !== null && ', for every series of the target'}
          {remove.error !== null && (
            <span role="alert"> Not removed: {remove.error.message}</span>
          )}
        </div>
      </div>
      {removable && (
        <Button
          size="compact-xs"
          variant="default"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
          aria-label={`Remove the note “${note.text}”`}
        >
          Remove
        </Button>
      )}
    </li>
  );
}

type Place = 'series' | 'target';

function NoteForm({
  page: { series },
  point,
}: {
  page: SeriesPage;
  point: SeriesPoint;
}) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState<Place>('series');
  const refresh = useRefresh(series.id);
  const add = useMutation({
    mutationFn: () =>
      annotate({
        ...(place === 'series'
          ? { series_id: series.id, commit: point.commit }
          : { target_id: series.target_id }),
        at: point.at,
        text: text.trim(),
      }),
    onSuccess: () => {
      setText('');
      return refresh();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" align="flex-start">
        <Textarea
          w="100%"
          maw="40rem"
          label="Note for the selected point"
          description={formatDateTime(point.at)}
          autosize
          minRows={2}
          maxLength={500}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Segments
          label="Applies to"
          value={place}
          options={[
            { value: 'series', label: 'this series' },
            { value: 'target', label: `every series of ${series.target_name}` },
          ]}
          onChange={setPlace}
        />
        <Button
          type="submit"
          variant="default"
          disabled={text.trim() === ''}
          loading={add.isPending}
        >
          Add note
        </Button>
        {add.error !== null && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            icon={<Icon name="warning" />}
          >
            Not added: {add.error.message}
          </Alert>
        )}
      </Stack>
    </form>
  );
}
