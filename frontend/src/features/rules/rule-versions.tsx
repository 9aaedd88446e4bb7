/** Lists all versions of a rule with their changes, newest first. */
import { useQuery } from '@tanstack/react-query';

import { ruleVersionsQuery } from '../../api/rules';
import type { RuleVersion } from '../../api/types';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { TimeAgo } from '../../ui/time-ago';
import { versionFields } from './rule-labels';
import classes from './rules.module.css';

export function RuleVersions({ ruleId }: { ruleId: string }) {
  const versions = useQuery(ruleVersionsQuery(ruleId));
  return (
    <Panel title="Versions" about="An alert names the version that raised it.">
      <QueryView query={versions} what="the versions" lines={4}>
        {({ items, next }) => (
          <>
            <ol className={classes.versions}>
              {items.map((version, index) => (
                <Version
                  key={version.version}
                  version={version}
                  before={items[index + 1]}
                />
              ))}
            </ol>
            {next !== null && (
              <p className={classes.sub}>Older versions are not shown.</p>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  );
}

interface VersionProps {
  version: RuleVersion;
  before: RuleVersion | undefined;
}

function Version({ version, before }: VersionProps) {
  return (
    <li>
      <strong>Version {version.version}</strong>
      <span className={classes.sub}>
        {' '}
        {version.created_by}, <TimeAgo at={version.created_at} />
      </span>
      {version.comment !== '' && <div>{version.comment}</div>}
      <Changes version={version} before={before} />
    </li>
  );
}

function Changes({ version, before }: VersionProps) {
  const now = versionFields(version);
  const old = new Map(before === undefined ? [] : versionFields(before));
  const changed =
    before === undefined
      ? now
      : now.filter(([field, words]) => old.get(field) !== words);
  if (changed.length === 0) return <p className={classes.sub}>No changes.</p>;
  return (
    <dl className={classes.changes}>
      {changed.map(([field, words]) => (
        <Change key={field} field={field} old={old.get(field)} now={words} />
      ))}
    </dl>
  );
}

function Change({
  field,
  old,
  now,
}: {
  field: string;
  old: string | undefined;
  now: string;
}) {
  return (
    <>
      <dt>{field}</dt>
      <dd>
        {old === undefined ? (
          now
        ) : (
          <>
            <del aria-label={`was ${old}`}>{old}</del> →{' '}
            <ins aria-label={`is ${now}`}>{now}</ins>
          </>
        )}
      </dd>
    </>
  );
}
