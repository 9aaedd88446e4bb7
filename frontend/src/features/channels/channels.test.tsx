import { fireEvent, screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

const dialog = () => screen.findByRole('dialog');

describe('the channels of a project', () => {
  it('are made with filters and times; a secret is shown once', async () => {
    const { user, backend } = renderApp('/channels');
    await user.type(
      await screen.findByRole('textbox', { name: /^Name/ }),
      'team',
    );
    await user.type(
      screen.getByRole('textbox', { name: /^URL/ }),
      'https://example.org/hook',
    );
    await user.click(screen.getByRole('checkbox', { name: 'critical' }));
    await user.type(
      screen.getByRole('textbox', { name: 'Branches' }),
      'main, release/*',
    );
    await user.type(screen.getByLabelText('Daily digest at'), '07:00');
    const make = screen.getByRole('button', { name: 'Make channel' });
    await user.click(make);
    expect(
      await screen.findByText(/Not made: A channel named 'team'/),
    ).toBeVisible();
    await user.type(screen.getByRole('textbox', { name: /^Name/ }), '2');
    await user.click(make);
    expect(await screen.findByText('whsec_of_chn-3')).toBeVisible();
    expect(backend.channels.channels[0]).toMatchObject({
      name: 'team2',
      filters: { severities: ['critical'], branches: ['main', 'release/*'] },
      digest_at: '07:00',
    });
    await user.click(screen.getByRole('button', { name: 'Hide' }));
    expect(screen.queryByText(/whsec/)).toBeNull();
  });

  it('are not shown to whoever may not make them', async () => {
    renderApp('/channels', (initial) => {
      if (initial.session !== null)
        initial.session = { ...initial.session, permissions: ['project.read'] };
      initial.failure = {
        status: 403,
        code: 'forbidden',
        detail: 'Missing channels.write.',
        path: /\/channels$/,
      };
    });
    expect(await screen.findByText('No access to the channels')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Make channel' })).toBeNull();
    expect(screen.queryByRole('link', { name: 'Channels' })).toBeNull();
  });
});

describe('one channel', () => {
  it('says why it is broken, and a test that arrives repairs it', async () => {
    const { user } = renderApp('/channels/chn-2');
    expect(
      await screen.findByText(/it answered 404\. It gets no more messages/),
    ).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Send a test' }));
    expect(await screen.findByText('healthy')).toBeVisible();
    expect(await screen.findByText('Test of channel nightly')).toBeVisible();
  });

  it('keeps its address when other settings change, and ends what is emptied', async () => {
    const { user, backend } = renderApp('/channels/chn-2');
    await user.click(await screen.findByRole('button', { name: 'Edit' }));
    const suites = screen.getByRole('textbox', { name: 'Suites' });
    expect(suites).toHaveValue('hashing');
    await user.clear(suites);
    await user.clear(screen.getByLabelText('Daily digest at'));
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('no, single messages');
    expect(backend.channels.channels[1]).toMatchObject({
      address: 'https://hooks.slack.com/…',
      filters: { suites: [], branches: ['main'] },
      digest_at: null,
    });
  });

  it('of a chat has a template that is JSON, and a test of it is sent when it is saved', async () => {
    const { user, backend } = renderApp('/channels/chn-1', ({ channels }) => {
      const [first] = channels.channels;
      if (first !== undefined)
        Object.assign(first, { kind: 'chat', template: { text: '{title}' } });
    });
    await user.click(await screen.findByRole('button', { name: 'Edit' }));
    const template = screen.getByRole('textbox', { name: /^Template/ });
    expect(template).toHaveValue('{\n  "text": "{title}"\n}');
    const save = screen.getByRole('button', { name: 'Save and send a test' });
    for (const [typed, complaint] of [
      ['{"text": "{title}"', /after property value/],
      ['["{title}"]', /A JSON object is expected/],
    ] as const) {
      fireEvent.change(template, { target: { value: typed } });
      expect(screen.getByText(complaint)).toBeVisible();
      expect(save).toBeDisabled();
    }
    fireEvent.change(template, {
      target: { value: '{"content": "{title}: {summary}"}' },
    });
    await user.click(save);
    expect(await screen.findByText('Test of channel team')).toBeVisible();
    expect(backend.channels.channels[0]?.template).toEqual({
      content: '{title}: {summary}',
    });
  });

  it('is muted and heard again', async () => {
    const { user, backend } = renderApp('/channels/chn-1');
    await user.click(
      await screen.findByRole('button', { name: 'Mute channel' }),
    );
    await user.click(await screen.findByRole('button', { name: 'Unmute' }));
    await screen.findByRole('button', { name: 'Mute channel' });
    expect(backend.channels.channels[0]?.muted_until).toBeNull();
  });

  it('gets a new key, and the old one signs for a while', async () => {
    const { user } = renderApp('/channels/chn-1');
    await user.click(await screen.findByRole('button', { name: 'Rotate key' }));
    expect(await screen.findByText('whsec_new')).toBeVisible();
    const keys = screen.getByRole('list', { name: 'Keys that sign' });
    expect(within(keys).getAllByRole('listitem')).toHaveLength(2);
    expect(within(keys).getByText(/signs, too, until/)).toBeVisible();
  });

  it('shows of each delivery the payload and every answer, and sends it again', async () => {
    const { user, backend } = renderApp('/channels/chn-1');
    await user.click(
      await screen.findByRole('button', { name: /^Details of/ }),
    );
    const shown = within(await dialog());
    expect(await shown.findByText(/"type":"alert.opened"/)).toBeVisible();
    expect(shown.getByText('upstream <b>down</b>')).toBeVisible();
    expect(shown.getByText('status 503, 212 ms')).toBeVisible();
    await user.click(shown.getByRole('button', { name: 'Close' }));
    await user.click(await screen.findByRole('button', { name: /^Redeliver/ }));
    await user.click(await screen.findByRole('button', { name: 'Send again' }));
    await waitFor(() =>
      expect(backend.channels.deliveries[0]?.attempts).toBe(3),
    );
  });

  it('of the operator is tested here and changed elsewhere', async () => {
    renderApp('/channels/chn-1', ({ channels }) => {
      const [first] = channels.channels;
      if (first !== undefined) first.origin = 'environment';
      channels.deliveries = [];
    });
    expect(await screen.findByText("the server's operator")).toBeVisible();
    expect(screen.getByRole('button', { name: 'Send a test' })).toBeVisible();
    for (const name of ['Edit', 'Delete'])
      expect(screen.queryByRole('button', { name })).toBeNull();
    expect(await screen.findByText('No deliveries')).toBeVisible();
  });

  it('is deleted after a question', async () => {
    const { user, backend, router } = renderApp('/channels/chn-2');
    await user.click(await screen.findByRole('button', { name: 'Delete' }));
    await user.click(
      await screen.findByRole('button', { name: 'Delete channel' }),
    );
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/channels'),
    );
    expect(backend.channels.channels.map(({ id }) => id)).toEqual(['chn-1']);
  });
});
