/** The projects of the installation, and the targets that the present one may use. */
import { Alert, Button, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import {
  createProject,
  grantedTargetsQuery,
  installationKeys,
  projectsQuery,
  setGrant,
} from '../../api/installation';
import { sessionQuery } from '../../api/session';
import type { GrantedTarget, Project } from '../../api/types';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { EmptyState } from '../../ui/states';
import { TimeAgo } from '../../ui/time-ago';
import classes from './installation.module.css';

export function ProjectsPanel() {
  const projects = useQuery(projectsQuery);
  return (
    <Panel
      title="Projects"
      about="A project owns its suites, runs, alerts, members and tokens. Nothing of it is seen in another."
      flush
    >
      <ProjectForm />
      <QueryView query={projects} what="the projects" lines={2}>
        {({ items }) => (
          <DataTable
            label="Projects"
            columns={PROJECTS}
            rows={items}
            rowKey={({ id }) => id}
          />
        )}
      </QueryView>
    </Panel>
  );
}

const PROJECTS: readonly Column<Project>[] = [
  { header: 'Title', cell: ({ title }) => title, wrap: true },
  {
    header: 'Name',
    cell: ({ name }) => <span className="pl-mono">{name}</span>,
  },
  { header: 'Visibility', cell: ({ visibility }) => visibility },
  { header: 'Default branch', cell: ({ default_branch: branch }) => branch },
  { header: 'Made', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
];

function ProjectForm() {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const queryClient = useQueryClient();
  const making = useMutation({
    mutationFn: () => createProject(name.trim(), title.trim()),
    onSuccess: () => {
      setName('');
      setTitle('');
      void queryClient.invalidateQueries({
        queryKey: installationKeys.projects,
      });
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.form}>
      <TextInput
        label="Name"
        placeholder="kernel-lab"
        required
        maxLength={50}
        pattern="[a-z][a-z0-9]*(-[a-z0-9]+)*"
        title="Lower-case letters, digits and single hyphens"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Title"
        placeholder="Kernel lab"
        required
        maxLength={100}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <Button type="submit" loading={making.isPending}>
        Make project
      </Button>
      {making.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          icon={<Icon name="warning" />}
          className={classes.refusal}
        >
          Not made: {making.error.message}
        </Alert>
      )}
    </form>
  );
}

export function GrantedTargetsPanel() {
  const targets = useQuery(grantedTargetsQuery);
  return (
    <Panel
      title="Targets of this project"
      about="A target belongs to the installation and serves every project that it is granted to."
      flush
    >
      <QueryView query={targets} what="the granted targets" lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon="targets" title="No targets">
              Enrol an agent first; its host appears here.
            </EmptyState>
          ) : (
            <DataTable
              label="Targets of this project"
              columns={TARGETS}
              rows={items}
              rowKey={({ id }) => id}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}

const TARGETS: readonly Column<GrantedTarget>[] = [
  { header: 'Target', cell: ({ name }) => name, wrap: true },
  { header: 'Kind', cell: ({ kind }) => kind },
  { header: 'May be used', cell: (target) => <GrantSwitch target={target} /> },
];

function GrantSwitch({
  target: { id, name, granted },
}: {
  target: GrantedTarget;
}) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (next: boolean) => setGrant(id, next),
    onSettled: () =>
      void queryClient.invalidateQueries({
        queryKey: installationKeys.targets,
      }),
  });
  return (
    <>
      <Switch
        aria-label={`This project may use ${name}`}
        checked={granted}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {change.error !== null && (
        <span role="alert">Not changed: {change.error.message}</span>
      )}
    </>
  );
}
