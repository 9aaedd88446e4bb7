/**
 * Shows one import. A document without samples has a table with computed differences, and its policy is compared with
 * our measurements. A document with samples has the runs that were made from it.
 */
import { Button, Group, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';

import {
  deleteImport,
  importKeys,
  importQuery,
  originalAddress,
} from '../../api/imports';
import { may, sessionQuery } from '../../api/session';
import type { ImportDetail, ImportedAdvice } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { CodeText } from '../../ui/code-text';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Facts, Panel } from '../../ui/panel';
import { policyBadge } from '../../ui/policy-looks';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import { ImportedRows } from './imported-rows';
import { ImportedRuns } from './imported-runs';
import classes from './imports.module.css';

export interface ImportPageProps {
  importId: string;
  onGone: () => void;
}

export function ImportPage({ importId, onGone }: ImportPageProps) {
  const document = useQuery(importQuery(importId));
  return (
    <Page
      title={document.data?.title ?? 'Import'}
      crumb={<AppLink to="/imports">Imports</AppLink>}
      {...(document.data !== undefined &&
      hasSamples(document.data) &&
      document.data.why_no_verdict !== ''
        ? { lead: <CodeText text={document.data.why_no_verdict} /> }
        : {})}
      actions={
        document.data !== undefined &&
        !hasSamples(document.data) && (
          <Remove document={document.data} onGone={onGone} />
        )
      }
    >
      <QueryView query={document} what="import" lines={8}>
        {(data) => (
          <>
            {hasSamples(data) ? (
              <ImportedRuns document={data} />
            ) : (
              <>
                <Panel
                  title="What it printed"
                  flush
                  note={<CodeText text={data.why_no_samples} />}
                >
                  <ImportedRows rows={data.rows} />
                </Panel>
                <Policy document={data} />
              </>
            )}
            <About document={data} />
            {data.other_lines.length > 0 && (
              <OtherLines lines={data.other_lines} />
            )}
          </>
        )}
      </QueryView>
    </Page>
  );
}

/** Returns whether the document has samples, even if they made no run because they were already stored. */
function hasSamples({ runs, left_out: leftOut }: ImportDetail): boolean {
  return runs.length + leftOut.length > 0;
}

function Remove({
  document,
  onGone,
}: {
  document: ImportDetail;
  onGone: () => void;
}) {
  const [asking, setAsking] = useState(false);
  const session = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteImport(document.id),
    onSuccess: () => {
      onGone();
      void queryClient.invalidateQueries({ queryKey: importKeys.lists });
    },
  });
  if (!may(session.data, 'imports.write')) return null;
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Delete import
      </Button>
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${document.title}?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <p style={{ marginTop: 0 }}>
          Its rows and its policy are deleted; the audit log keeps who did it.
          The file can be imported again.
        </p>
        {remove.error !== null && (
          <p role="alert">Not deleted: {remove.error.message}</p>
        )}
        <Group>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Delete
          </Button>
          <Button variant="default" onClick={() => setAsking(false)}>
            Cancel
          </Button>
        </Group>
      </Modal>
    </>
  );
}

/** Shows which advice the imported policy was compared with; each point of the params has its own advice. */
function AdviceCell({
  advice: { suite, policy, params },
}: {
  advice: ImportedAdvice;
}) {
  if (suite === null || policy === null) return <>–</>;
  return (
    <>
      {policy}
      <div className={classes.quiet}>
        {[suite, paramsLabel(params)].filter(Boolean).join(', ')}
      </div>
    </>
  );
}

const ADVICE: readonly Column<ImportedAdvice>[] = [
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName link id={id} name={name} />
    ),
  },
  {
    header: 'Advice',
    cell: (advice) => <AdviceCell advice={advice} />,
    wrap: true,
  },
  {
    header: 'Policy in force',
    cell: (advice) => <Status look={policyBadge(advice)} title={advice.why} />,
  },
  {
    header: 'Summary',
    wrap: true,
    cell: ({ words, why }) => (
      <>
        {words}
        <div className={classes.quiet}>{why}</div>
      </>
    ),
  },
  { header: 'Measured', cell: ({ measured_at: at }) => <TimeAgo at={at} /> },
];

function Policy({ document: { policy, advice } }: { document: ImportDetail }) {
  if (policy === null) {
    return (
      <Panel title="Policy in force">
        <p className={classes.plain}>None stated.</p>
      </Panel>
    );
  }
  return (
    <Panel
      title="Policy in force"
      flush
      note={`Stated: ${policy.words}. Compared below with measurements from here, per target.`}
      actions={<AppLink to="/policies">All advice</AppLink>}
    >
      <blockquote className={classes.quote}>{policy.source_text}</blockquote>
      <DataTable
        label="The policy against advice"
        columns={ADVICE}
        rows={advice}
        rowKey={({
          target_id: id,
          target_name: name,
          suite,
          policy: own,
          params,
        }) => [id, name, suite, own, paramsLabel(params)].join('|')}
      />
    </Panel>
  );
}

function About({ document }: { document: ImportDetail }) {
  return (
    <Panel title="About">
      <Facts
        items={[
          ...(document.tool === null ? [] : [['Tool', document.tool] as const]),
          ...(hasSamples(document)
            ? [['Measured', <Measured key="m" document={document} />] as const]
            : []),
          ['Format', document.format],
          ['File', <FileName key="f" document={document} />],
          ...Object.entries(document.facts),
          ['Measured on', document.devices.join(', ') || '–'],
          ...(hasSamples(document) ? historyFacts(document) : []),
          [
            'SHA-256',
            <span
              key="h"
              className="pl-mono"
              style={{ overflowWrap: 'anywhere' }}
            >
              {document.sha256}
            </span>,
          ],
          ['Imported by', document.imported_by],
          ['Imported', <TimeAgo key="a" at={document.imported_at} />],
        ]}
      />
    </Panel>
  );
}

/** Returns how the points of a document count, and the import of the corrected file. */
function historyFacts({
  judged,
  notifies,
  replaced_by: newer,
}: ImportDetail): [string, ReactNode][] {
  const told = notifies ? 'judged' : 'judged, and nobody is told';
  return [
    ['History', judged ? told : 'shown, not judged'],
    ...(newer === null
      ? []
      : [
          [
            'Replaced by',
            <AppLink
              key="r"
              to="/imports/$importId"
              params={{ importId: newer }}
            >
              the import of a corrected file
            </AppLink>,
          ] satisfies [string, ReactNode],
        ]),
  ];
}

/** Shows when a document was measured. Its runs are at one time, which some tools do not say. */
function Measured({ document: { runs } }: { document: ImportDetail }) {
  const at = runs[0]?.at ?? null;
  return at === null ? <>not stated</> : <TimeAgo at={at} />;
}

/** Shows the name of a document's file, which is a link where the file is kept. */
function FileName({
  document: { id, source, original_bytes: size },
}: {
  document: ImportDetail;
}) {
  if (size === null) return <>{source}</>;
  return (
    <>
      <a href={originalAddress(id)} download>
        {source}
      </a>
      , {formatValue(size, 'bytes')}
    </>
  );
}

function OtherLines({ lines }: { lines: readonly string[] }) {
  return (
    <Panel title="Other lines">
      <details className={classes.lines}>
        <summary>Lines without a comparison: {lines.length}</summary>
        <ul className={classes.other}>
          {lines.map((line, index) => (
            // The same line may be printed twice.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={`${index} ${line}`} className="pl-mono">
              {line}
            </li>
          ))}
        </ul>
      </details>
    </Panel>
  );
}
