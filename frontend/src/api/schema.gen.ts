// Generated from backend/openapi.json by `npm run api`. Do not edit.

export interface paths {
    "/api/v1/account/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Invitation
         * @description Accept an invitation with your account. 403 `other_address` unless it was sent to your address.
         */
        post: operations["accept_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change Password
         * @description Set your password; `current` proves that it is you if you have one. All your other sessions end.
         *
         *     Failures are throttled (429 `throttled`). 403 `wrong_password`; 400 `weak_password`.
         */
        put: operations["change_password"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Sessions
         * @description List your sessions, one per browser, the newest first.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        /**
         * End Other Sessions
         * @description Sign out everywhere but here.
         */
        delete: operations["end_other_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End Session
         * @description End one of your sessions at once.
         */
        delete: operations["end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Accounts
         * @description List the accounts that an alert can be assigned to, by id.
         */
        get: operations["list_accounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account_id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable Account
         * @description Disable an account: its sessions end and its tokens stop working at once.
         */
        post: operations["disable_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable Account
         * @description Let a disabled account sign in again.
         */
        post: operations["enable_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account_id}/installation-admin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Installation Admin
         * @description Give an account the role of an installation admin, or take it away. 403 `own_role` for your own account.
         */
        put: operations["set_installation_admin"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account_id}/reset-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Reset Link
         * @description Create a link with which a person sets a new password; hand it to them.
         */
        post: operations["create_reset_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign Out Account
         * @description End all sessions of an account at once; its tokens keep working.
         */
        delete: operations["sign_out_account"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description List agents, newest first.
         */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/enrol": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enrol
         * @description Enrol an agent with a one-time code; its credential is returned only here. 409 `host_taken`: the host belongs to
         *     another agent, and the code still works.
         */
        post: operations["enrol"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/enrolment-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Enrolment Code
         * @description Create a one-time code with which one agent may enrol, and the agent's grant. Without a body it grants any
         *     repository and any target, for the request's project.
         */
        post: operations["create_enrolment_code"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/self/credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew Credential
         * @description Replace the agent's credential if the reply to its heartbeat asked for it.
         *
         *     The first call returns a new one; the second, made with it, ends the old one and returns null.
         */
        post: operations["renew_credential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/self/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Heartbeat
         * @description Report that the agent is online, its targets and, with `suites`, what it can run.
         */
        post: operations["heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/self/lease": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lease
         * @description Lease the next job, waiting up to `wait_s` for one; 204 if there is none.
         *
         *     A waiting request holds neither a thread nor a database connection.
         */
        post: operations["lease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Alerts
         * @description List alerts, the newest first. `assignee=none` lists unassigned alerts. `shadow=true` lists only alerts of
         *     rules in shadow, which are left out otherwise. `rule` is a rule's id. `text` is searched in title, words,
         *     benchmark, suite and commits. `from` and `to` bound when it was first seen.
         */
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Alert Feed
         * @description Return the alerts that changed last as an Atom feed; `target` is a name. Alerts that nobody was notified of are
         *     not in it.
         */
        get: operations["get_alert_feed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Triage Batches
         * @description List bulk decisions, the newest first.
         */
        get: operations["list_triage_batches"];
        put?: never;
        /**
         * Triage In Bulk
         * @description Apply one decision to several alerts. If any alert refuses, none is changed: 409 `bulk_refused` with
         *     the reason of each.
         */
        post: operations["triage_in_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/bulk/{batch_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Bulk Triage
         * @description Undo a bulk decision within 15 minutes. 409 `undo_refused` when it is too late or one of its alerts has
         *     changed since.
         */
        post: operations["undo_bulk_triage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Alert
         * @description Return one alert with its rule, its evidence with every filter, its events and the possible actions.
         *     `expand=window` lists all jobs and values of each finding's window; without it a window has their number
         *     and the first and last job.
         */
        get: operations["get_alert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Act On Alert
         * @description Acknowledge, resolve or reopen an alert.
         */
        post: operations["act_on_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/assignee": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Assign Alert
         * @description Assign the alert to a person; null unassigns it.
         */
        put: operations["assign_alert"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/bisect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bisect Alert
         * @description Search for the culprit commit by A/B jobs. 409 while a search runs, or if the alert does not blame code.
         */
        post: operations["bisect_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/due": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Alert Due
         * @description Set the date by which the alert should be resolved; null removes it.
         */
        put: operations["set_alert_due"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain Alert
         * @description Explain an alert: every filter with its number and limit, the data window, and one paragraph for people.
         *     `rederive` also computes the first 20 findings again from stored samples, which reads every job of their windows.
         */
        get: operations["explain_alert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/issue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Link Alert Issue
         * @description Link the issue that tracks the alert; null removes the link.
         */
        put: operations["link_alert_issue"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mute Alert
         * @description Mute the rule behind the alert for some hours. Where only the suite's or the built-in rule decides, a rule about
         *     this measurement alone is made first.
         */
        post: operations["mute_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add Alert Note
         * @description Add a remark to the events of an alert.
         */
        post: operations["add_alert_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Annotation
         * @description Annotate a series, or every series of a target.
         */
        post: operations["create_annotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/annotations/{annotation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Annotation
         * @description Delete an annotation.
         */
        delete: operations["delete_annotation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/arms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Arms
         * @description Return the newest comparisons of a benchmark per target, with the rule and a summary in words.
         */
        get: operations["get_arms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/arms/standings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Arm Standings
         * @description List how the arms that should win stand, for every suite on every target, worst first. Arms that no rule of a
         *     suite watches are not counted.
         */
        get: operations["get_arm_standings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audit
         * @description List who changed what in the project, the newest first.
         */
        get: operations["list_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/badge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Badge
         * @description Return the badge of a suite as shields.io's endpoint reads it; `target` is a name. Anybody may read it in a
         *     public project, with `project=NAME`.
         */
        get: operations["get_badge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/badge.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Badge Picture
         * @description Return the badge of a suite as SVG; the parameters are those of `/badge`.
         */
        get: operations["get_badge_picture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Channels
         * @description List the project's channels, the newest first.
         */
        get: operations["list_channels"];
        put?: never;
        /**
         * Create Channel
         * @description Create a channel. The secret with which receivers check signatures is returned only here.
         */
        post: operations["create_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Channel
         * @description Return one channel with its health.
         */
        get: operations["get_channel"];
        put?: never;
        post?: never;
        /**
         * Delete Channel
         * @description Delete a channel; its waiting messages are not sent.
         */
        delete: operations["delete_channel"];
        options?: never;
        head?: never;
        /**
         * Change Channel
         * @description Change a channel's name, address, filters or times. 409 for the channel of `PACELINE_WEBHOOK_URL`.
         */
        patch: operations["change_channel"];
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Deliveries
         * @description List the channel's deliveries, the newest first.
         */
        get: operations["list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mute Channel
         * @description Mute a channel for some hours. Events in that time are listed as skipped.
         */
        post: operations["mute_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate Channel Key
         * @description Create a new signing key. The current one also signs for `keep_hours`.
         */
        post: operations["rotate_channel_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Channel
         * @description Send a test at once. If it arrives, a failing or broken channel is healthy again.
         */
        post: operations["test_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/unmute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unmute Channel
         * @description End the mute of a channel now.
         */
        post: operations["unmute_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Comparison
         * @description Compare two runs (`run_…`) or revisions (7 or more digits of a commit): differences of their environments,
         *     then every measurement, in pages. Only measurements that an A/B job of this pair decided are judged.
         */
        get: operations["get_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Delivery
         * @description Return one delivery with its payload and every attempt with answer and latency.
         */
        get: operations["get_delivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver
         * @description Send a finished delivery again, with the same id. 409 while it is pending.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Imports
         * @description Stored documents, the newest first.
         */
        get: operations["list_imports"];
        put?: never;
        /**
         * Store Import
         * @description Store a document that `paceline import` wrote. Storing it again changes nothing: 200.
         */
        post: operations["store_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store File
         * @description Store a file of another tool, which is recognised and read here. Storing it again changes nothing: 200.
         */
        post: operations["store_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Import
         * @description What `POST /imports/files` would store of a file. Stores nothing.
         */
        post: operations["preview_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Import
         * @description A document's rows, the policy it states, and how that compares with measurements of this server.
         */
        get: operations["read_import"];
        put?: never;
        post?: never;
        /**
         * Delete Import
         * @description Delete a document.
         */
        delete: operations["delete_import"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}/original": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Original
         * @description The file that a document was read from, or the document itself where no file was sent.
         */
        get: operations["read_original"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Incidents
         * @description List incidents that an operator of Paceline should know, the newest first; `/metrics` counts them too.
         */
        get: operations["list_incidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Installation Accounts
         * @description List all accounts by name; with `q`, those whose name or address contains it.
         */
        get: operations["list_installation_accounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Enrolled Agents
         * @description List agents of the installation with their grants and targets, newest first.
         */
        get: operations["list_enrolled_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Enrolled Agent
         * @description Return one agent.
         */
        get: operations["get_enrolled_agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents/{agent_id}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Agent Grant
         * @description Change which projects, repositories and targets an agent may act for.
         */
        put: operations["set_agent_grant"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents/{agent_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke Agent
         * @description Refuse the agent for good: its credential is invalid at once, its leases end, its workloads stop.
         */
        post: operations["revoke_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents/{agent_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate Agent
         * @description Let the agent replace its credential with its next heartbeat; the old one works until then.
         */
        post: operations["rotate_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/agents/{agent_id}/silence-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Silence Limit
         * @description Change after how long without a heartbeat the agent's projects are alerted.
         */
        put: operations["set_silence_limit"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Installation Audit
         * @description List who changed what outside projects (accounts, sign-ins, agents), the newest first.
         */
        get: operations["list_installation_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Claims
         * @description List claims, newest first: agents that announce a target of another agent.
         */
        get: operations["list_claims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/claims/{claim_id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dismiss Claim
         * @description Leave the target with its agent; the claiming agent stays refused and is not reported again.
         */
        post: operations["dismiss_claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/installation/claims/{claim_id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move Claimed Target
         * @description Give the target to the agent that claims it; 409 `target_busy` while a job runs on it.
         */
        post: operations["move_claimed_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Invitations
         * @description List invitations to the project, the newest first, without their links.
         */
        get: operations["list_invitations"];
        put?: never;
        /**
         * Create Invitation
         * @description Invite the holder of an e-mail address; the link is returned only here. It replaces an earlier invitation.
         */
        post: operations["create_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Invitation
         * @description Revoke an invitation; its link stops working.
         */
        delete: operations["revoke_invitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Job
         * @description Return one job.
         */
        get: operations["get_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish
         * @description End the attempt; `done` is accepted only after every item has arrived.
         */
        post: operations["finish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store Items
         * @description Store samples, events, conditions, log lines and reported lines. Items that are sent again count as
         *     duplicates.
         */
        post: operations["store_items"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report Manifest
         * @description Report the manifest at the commit that is about to be measured, which decides what the run measures. Repeatable.
         */
        post: operations["report_manifest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew
         * @description Extend the lease; `cancel` asks the agent to stop.
         */
        post: operations["renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report State
         * @description Report the state of the attempt: what the agent does next.
         */
        post: operations["report_state"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/attempts/{attempt}/undecided": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List Undecided
         * @description List the benchmarks that more launches may decide, by what was delivered. Nothing is locked while they are judged.
         */
        post: operations["list_undecided"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/conditions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Conditions
         * @description List conditions of the target, oldest first; `expand=raw` adds the output of a device's commands.
         */
        get: operations["read_conditions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/distribution": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Distribution
         * @description Return the empirical distribution of each arm for one combination of params.
         */
        get: operations["get_distribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/live-series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Live Series
         * @description List recent values per case while a job measures.
         */
        get: operations["list_live_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Log
         * @description List log lines, oldest first; `tail=true` returns the last `limit`, `format=text` all of them.
         */
        get: operations["read_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Report
         * @description Return the newest analysis of a job; 404 `not_analysed` before the first.
         */
        get: operations["get_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/reported": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Reported
         * @description List values in a device's log lines that match the suite's patterns, oldest first. They are not samples.
         */
        get: operations["read_reported"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Matrix
         * @description Return a suite's state by benchmark and target, by default on the branch measured last.
         */
        get: operations["get_matrix"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Members
         * @description List the members of the project with their roles.
         */
        get: operations["list_members"];
        put?: never;
        /**
         * Add Member
         * @description Make the owner of an account a member; if they are a member already, they get the new role.
         */
        post: operations["add_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members/{account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change Role
         * @description Give a member another role. 409 `last_admin` for the project's last admin.
         */
        put: operations["change_role"];
        post?: never;
        /**
         * Remove Member
         * @description Remove a member from the project at once. 409 `last_admin` for the project's last admin.
         */
        delete: operations["remove_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/noise-floors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Noise Floors
         * @description List the newest noise floor of each measurement and target, with the threshold proposed for rules.
         */
        get: operations["list_noise_floors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Overview
         * @description Return alerts by state, agents and the newest runs.
         */
        get: operations["get_overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plots/{notification_id}.png": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Plot
         * @description Return the plot that a message to Slack links to, as PNG. Its key is the only credential; it opens this plot alone
         *     and works for 30 days. 404 for everything else.
         */
        get: operations["get_plot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Policies
         * @description Return the newest advice for each target, policy and combination of params.
         */
        get: operations["list_policies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Policy History
         * @description Return all advice about a policy on a target, newest first.
         */
        get: operations["list_policy_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/project": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change Project
         * @description Change the settings of the project.
         */
        patch: operations["change_project"];
        trace?: never;
    };
    "/api/v1/project/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Grantable Targets
         * @description List every target of the installation, and whether the project may use it.
         */
        get: operations["list_grantable_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/project/targets/{target_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Grant Target
         * @description Grant a target to the project, which can then see and use it.
         */
        put: operations["grant_target"];
        post?: never;
        /**
         * Withdraw Target
         * @description Withdraw a target from the project; its results stay.
         */
        delete: operations["withdraw_target"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Projects
         * @description List projects you are a member of and public ones, by name.
         */
        get: operations["list_projects"];
        put?: never;
        /**
         * Create Project
         * @description Create a project, which has no members and no targets yet.
         */
        post: operations["create_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Rules
         * @description List rules by name, each with its mute and the outcomes of its alerts.
         */
        get: operations["list_rules"];
        put?: never;
        /**
         * Create Rule
         * @description Save a new rule. 422 `below_noise_floor` when it asks for smaller effects than a target can resolve.
         */
        post: operations["create_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/applied": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Applied Rule
         * @description Return the rule that decides about a measurement; `target` is the target's name.
         */
        get: operations["get_applied_rule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/orphans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Orphans
         * @description List rules that decide about no current measurement, and measurements without a stored rule.
         */
        get: operations["list_orphans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay Rule
         * @description Return the alerts a rule would have raised in the last days, without saving the rule.
         */
        post: operations["replay_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/shipped": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Shipped Rules
         * @description List the rules of the suites' manifests and the built-in ones. They apply where no stored rule does.
         */
        get: operations["list_shipped_rules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Rule
         * @description Return a rule with the highest noise floor among its series and all of its mutes.
         */
        get: operations["get_rule"];
        /**
         * Update Rule
         * @description Save a new version of a rule. 409 if somebody else saved one meanwhile.
         */
        put: operations["update_rule"];
        post?: never;
        /**
         * Delete Rule
         * @description Delete a rule; its versions stay, because alerts name them.
         */
        delete: operations["delete_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule_id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mute Rule
         * @description Mute a rule for some hours. People are notified of alerts that are still open when the mute ends.
         */
        post: operations["mute_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule_id}/unmute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unmute Rule
         * @description End the mute of a rule now.
         */
        post: operations["unmute_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Rule Versions
         * @description List the versions of a rule, the newest first.
         */
        get: operations["list_rule_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description List runs, the newest first; `from` (included) and `to` (not included) bound when they were requested.
         */
        get: operations["list_runs"];
        put?: never;
        /**
         * Create Run
         * @description Create a run. With a `concurrency_key`, older runs of the same key are cancelled.
         */
        post: operations["create_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate Run
         * @description Return how long a request would take, and from which percentage on a demonstration shows an effect. It creates no
         *     run, and refuses what a request for a run would refuse, except that no target is online.
         */
        post: operations["estimate_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run
         * @description Return one run with its jobs.
         */
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Run
         * @description Stop the jobs of a run that have not ended; repeating it changes nothing.
         */
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/comparisons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Comparisons
         * @description List the comparisons of every arm with its reference in the run's concluded jobs.
         */
        get: operations["list_comparisons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/completeness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Completeness
         * @description Return which cases of a run have arrived so far, and every missing case with its reason.
         */
        get: operations["get_completeness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Samples
         * @description Export every sample of a run with its target, case, launch, round and counters, one row each.
         */
        get: operations["export_samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/verdicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Verdicts
         * @description Return the verdicts of a run as one document in JSON, JUnit XML or Markdown, the worst first. For a run that is
         *     still measuring, it has what is known so far.
         */
        get: operations["get_verdicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Schedules
         * @description List schedules, the newest first.
         */
        get: operations["list_schedules"];
        put?: never;
        /**
         * Create Schedule
         * @description Create a schedule of runs; it starts once it is enabled.
         */
        post: operations["create_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Schedule
         * @description Return one schedule.
         */
        get: operations["get_schedule"];
        put?: never;
        post?: never;
        /**
         * Remove Schedule
         * @description Delete a schedule; its runs stay.
         */
        delete: operations["remove_schedule"];
        options?: never;
        head?: never;
        /**
         * Change Schedule
         * @description Enable a schedule (its next run is due at once), disable it, or change its interval.
         */
        patch: operations["change_schedule"];
        trace?: never;
    };
    "/api/v1/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Series
         * @description List series by benchmark and arm. `changed` selects those with (or without) a suspect or standing change, `from`
         *     and `to` those that were measured in that period.
         */
        get: operations["list_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series/{series_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Series
         * @description Return one series with its levels, environments, changes, noise floor, rule in force, and notes.
         */
        get: operations["get_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series/{series_id}/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Points
         * @description List the points of a window, oldest first, thinned if there are more than `max_points`.
         */
        get: operations["list_points"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Current Session
         * @description Return the current session. 401 without one, 404 for a project that its person may not see.
         */
        get: operations["current_session"];
        put?: never;
        /**
         * Sign In By Password
         * @description Sign in with e-mail address and password; failures are throttled (429 `throttled`).
         *
         *     The attempt is counted before the password is compared, so that concurrent guesses all count. Comparing holds
         *     neither a transaction nor a thread of other requests.
         */
        post: operations["sign_in_by_password"];
        /**
         * Sign Out
         * @description Sign out and close this session's streams.
         */
        delete: operations["sign_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept With New Account
         * @description Accept an invitation with a new account, and sign in. 403 `other_address` unless it was sent to `email`.
         */
        post: operations["accept_with_new_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/invitation/offer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show Invitation
         * @description Return the project and role that an invitation's link offers. 410 `invitation_invalid` if it was used, was
         *     revoked or has expired.
         */
        post: operations["show_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign In By Link
         * @description Sign in with the one-time token of a sign-in link.
         */
        post: operations["sign_in_by_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset Password
         * @description Set a new password with the one-time token of a reset link, and sign in. All other sessions end.
         */
        post: operations["reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/since": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Since
         * @description List what is new since an instant: changes, flipped verdicts, alerts and failed runs, at most 20 of each.
         */
        get: operations["get_since"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream
         * @description Stream live events from now on, or after `Last-Event-ID`. The first event is `ready`; an event `reset` means that
         *     older events are deleted and the client should read everything again.
         */
        get: operations["stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/suites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Suites
         * @description List the suites that agents announce and those that were imported, by name.
         */
        get: operations["list_suites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/suites/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Suite
         * @description Return a suite with its benchmarks, arms, params, metrics and knobs.
         */
        get: operations["get_suite"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/suites/{suite}/retired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Retired
         * @description List retired benchmarks and arms of a suite.
         */
        get: operations["list_retired"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/suites/{suite}/retired/{benchmark}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Retire Benchmark
         * @description Retire a benchmark, or one `arm` of it; 409 `still_declared` while the suite's manifest declares it.
         */
        put: operations["retire_benchmark"];
        post?: never;
        /**
         * Restore Benchmark
         * @description Undo a retirement: runs report it as missing again.
         */
        delete: operations["restore_benchmark"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tables/{table}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Table
         * @description Export all alerts, comparisons, conditions, findings or points, or those of a run, a series or a period (`from`
         *     included, `to` not).
         */
        get: operations["export_table"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Targets
         * @description List targets in the order they were first seen; `q` searches name, serial, model and route.
         *     `fields=names` leaves out factors, preflight findings and the last check.
         */
        get: operations["list_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets-by-noise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Targets By Noise
         * @description List targets by the noise in their ordinary jobs, the noisiest first.
         */
        get: operations["list_targets_by_noise"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Target
         * @description Return one target with its preflight findings and the output of its last health check.
         */
        get: operations["get_target"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/conditions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Target Conditions
         * @description Return the conditions of a target over time and during its jobs, by default of the last week.
         */
        get: operations["get_target_conditions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Target Events
         * @description List the events of a target, the newest first.
         */
        get: operations["list_target_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Maintenance
         * @description Put a target into maintenance, until an instant if one is given, or take it out again.
         */
        put: operations["set_maintenance"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/quarantine": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Quarantine Target
         * @description Give a device no job until it is released; 409 `not_a_device` for a host.
         */
        post: operations["quarantine_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/reboot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reboot Target
         * @description Request a restart as soon as no job holds the device; 409 `too_many_reboots` after two within a day.
         */
        post: operations["reboot_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recheck Target
         * @description Request a health check as soon as no job holds the device; repeating it changes nothing.
         */
        post: operations["recheck_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release Target
         * @description Release a device from quarantine; it is checked before it gets a job.
         */
        post: operations["release_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tokens
         * @description List tokens of programs, newest first, without their secrets.
         */
        get: operations["list_tokens"];
        put?: never;
        /**
         * Create Token
         * @description Create a token; its secret is returned only here.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Token
         * @description Revoke a token at once.
         */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verdicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Commit Verdicts
         * @description Return the verdicts of a commit (given by its whole hash), of one suite or all, for systems that poll.
         */
        get: operations["get_commit_verdicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Version
         * @description The version of this server. Public: sign-in pages show it, and CI clients compare it with their own.
         */
        get: operations["version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Waiting
         * @description Count what waits for a person or a target, for the menu.
         */
        get: operations["get_waiting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waivers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Waivers
         * @description Return the waivers, the newest first, including those that ended.
         */
        get: operations["list_waivers"];
        put?: never;
        /**
         * Create Waiver
         * @description Let a failing gate, regression or arm pass visibly until an instant.
         */
        post: operations["create_waiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waivers/{waiver_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Waiver
         * @description Return one waiver.
         */
        get: operations["get_waiver"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waivers/{waiver_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke Waiver
         * @description End a waiver now; what passed by it stays.
         */
        post: operations["revoke_waiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description Whether the process answers. Needs no thread, so it answers while all of them wait.
         */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description Metrics of this process and of the shared outbox and incidents, in Prometheus text format.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readyz
         * @description Whether this process is ready: database, schema, writes, broker, background work. 503 names the failing
         *     checks.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** AccountOut */
        AccountOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Email */
            email: string | null;
        };
        /** AgentNameOut */
        AgentNameOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /** AgentOrderOut */
        AgentOrderOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "check" | "reboot";
        };
        /** AgentOut */
        AgentOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Version */
            version: string;
            /**
             * State
             * @enum {string}
             */
            state: "online" | "offline";
            /** Last Seen At */
            last_seen_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * AlertActionIn
         * @description `baseline_commit` may be given with `expected` for a history alert; the default is the commit it
         *     blames.
         */
        AlertActionIn: {
            /**
             * Action
             * @enum {string}
             */
            action: "acknowledge" | "fixed" | "expected" | "invalid" | "infra" | "reopen";
            /** Note */
            note?: string | null;
            /** Baseline Commit */
            baseline_commit?: string | null;
        };
        /**
         * AlertDetailOut
         * @description An alert's page. `mute` is the mute of its rule in force; only alerts that people may write rules for can be
         *     muted (`can_be_muted`). `imported`: no agent measured it, so that nothing can be measured to search its commit.
         */
        AlertDetailOut: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /**
             * State
             * @enum {string}
             */
            state: "suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished";
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped";
            /** Cause */
            cause: ("code" | "environment" | "target") | null;
            /** Base Commit */
            base_commit: string | null;
            /** Head Commit */
            head_commit: string | null;
            culprit: components["schemas"]["CulpritOut"] | null;
            /** Baseline Commit */
            baseline_commit: string | null;
            /** Rule Id */
            rule_id: string | null;
            /** Rule Name */
            rule_name: string;
            /** Shadow */
            shadow: boolean;
            /** Due At */
            due_at: string | null;
            /** Overdue */
            overdue: boolean;
            /** Issue Url */
            issue_url: string | null;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Metric */
            metric: string;
            /** Target Id */
            target_id: string | null;
            /** Target Name */
            target_name: string | null;
            /** Demonstration */
            demonstration: boolean;
            /** Words */
            words: string;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            assignee: components["schemas"]["AccountOut"] | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Run Id */
            run_id: string | null;
            /** Confirmation Run Id */
            confirmation_run_id: string | null;
            /** Imported */
            imported: boolean;
            rule: components["schemas"]["RuleOut"];
            mute: components["schemas"]["MuteOut"] | null;
            /** Can Be Muted */
            can_be_muted: boolean;
            /** Explanation */
            explanation: string;
            /** Cause Text */
            cause_text: string | null;
            /** Findings */
            findings: components["schemas"]["FindingOut"][];
            bisection: components["schemas"]["BisectionOut"] | null;
            /** History */
            history: components["schemas"]["AlertEventOut"][];
            /** Actions */
            actions: ("acknowledge" | "fixed" | "expected" | "invalid" | "infra" | "reopen")[];
        };
        /** AlertEventOut */
        AlertEventOut: {
            /** Id */
            id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Actor */
            actor: string;
            /** Action */
            action: string;
            /** From State */
            from_state: ("suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished") | null;
            /** To State */
            to_state: ("suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished") | null;
            /** Note */
            note: string | null;
        };
        /** AlertNoteIn */
        AlertNoteIn: {
            /** Note */
            note: string;
        };
        /**
         * AlertOut
         * @description An alert in the inbox.
         *
         *     `ratio` above 1 means worse. About a gate, `metric` is the derived metric if it has one; about vanished cases
         *     and schedules, benchmark, arm and metric are empty; an alert without a measurement has no run, and perhaps no suite
         *     and no target. A history alert blames the commits after `base_commit` up to
         *     and including `head_commit`; `culprit` is the commit a bisection found. `cause` is null for arms and policies. `rule_id`
         *     is null for a manifest's or a built-in rule. If the alert was called expected, the level from
         *     `baseline_commit` on is the new baseline.
         */
        AlertOut: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /**
             * State
             * @enum {string}
             */
            state: "suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished";
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped";
            /** Cause */
            cause: ("code" | "environment" | "target") | null;
            /** Base Commit */
            base_commit: string | null;
            /** Head Commit */
            head_commit: string | null;
            culprit: components["schemas"]["CulpritOut"] | null;
            /** Baseline Commit */
            baseline_commit: string | null;
            /** Rule Id */
            rule_id: string | null;
            /** Rule Name */
            rule_name: string;
            /** Shadow */
            shadow: boolean;
            /** Due At */
            due_at: string | null;
            /** Overdue */
            overdue: boolean;
            /** Issue Url */
            issue_url: string | null;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Metric */
            metric: string;
            /** Target Id */
            target_id: string | null;
            /** Target Name */
            target_name: string | null;
            /** Demonstration */
            demonstration: boolean;
            /** Words */
            words: string;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            assignee: components["schemas"]["AccountOut"] | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Run Id */
            run_id: string | null;
            /** Confirmation Run Id */
            confirmation_run_id: string | null;
        };
        /** AlertRuleDetailOut */
        AlertRuleDetailOut: {
            /** Version */
            version: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Target */
            target: string;
            /** Min Effect */
            min_effect: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Period Hours */
            period_hours: number | null;
            /** Text */
            text: string;
            /** Comment */
            comment: string;
            owner: components["schemas"]["AccountOut"] | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Id */
            id: string;
            /** Name */
            name: string;
            mute: components["schemas"]["MuteOut"] | null;
            precision: components["schemas"]["PrecisionOut"];
            floor: components["schemas"]["FloorOut"] | null;
            /** Mutes */
            mutes: components["schemas"]["MuteOut"][];
        };
        /**
         * AlertRuleIn
         * @description A rule as its author writes it.
         *
         *     In patterns, `*` matches any characters. `min_effect` is a fraction: 0.03 is 3 %. For a rule of kind
         *     arm_slower it is added to the margin of the suite's manifest. `period_hours` says how often something must arrive, for
         *     a kind that asks for it. Of a silent agent, `target` matches the agent's name.
         */
        AlertRuleIn: {
            /** Name */
            name: string;
            /**
             * Kind
             * @default history
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /**
             * Suite
             * @default *
             */
            suite: string;
            /**
             * Benchmark
             * @default *
             */
            benchmark: string;
            /**
             * Arm
             * @default *
             */
            arm: string;
            /**
             * Metric
             * @default *
             */
            metric: string;
            /**
             * Target
             * @default *
             */
            target: string;
            /**
             * Min Effect
             * @default 0.03
             */
            min_effect: number;
            /**
             * Direction
             * @default worse
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @default active
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Period Hours */
            period_hours?: number | null;
            /**
             * Text
             * @default
             */
            text: string;
            /**
             * Comment
             * @default
             */
            comment: string;
            /** Owner Id */
            owner_id?: string | null;
        };
        /** AlertRuleOut */
        AlertRuleOut: {
            /** Version */
            version: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Target */
            target: string;
            /** Min Effect */
            min_effect: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Period Hours */
            period_hours: number | null;
            /** Text */
            text: string;
            /** Comment */
            comment: string;
            owner: components["schemas"]["AccountOut"] | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Id */
            id: string;
            /** Name */
            name: string;
            mute: components["schemas"]["MuteOut"] | null;
            precision: components["schemas"]["PrecisionOut"];
        };
        /** AlertRuleUpdateIn */
        AlertRuleUpdateIn: {
            /** Name */
            name: string;
            /**
             * Kind
             * @default history
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /**
             * Suite
             * @default *
             */
            suite: string;
            /**
             * Benchmark
             * @default *
             */
            benchmark: string;
            /**
             * Arm
             * @default *
             */
            arm: string;
            /**
             * Metric
             * @default *
             */
            metric: string;
            /**
             * Target
             * @default *
             */
            target: string;
            /**
             * Min Effect
             * @default 0.03
             */
            min_effect: number;
            /**
             * Direction
             * @default worse
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @default active
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Period Hours */
            period_hours?: number | null;
            /**
             * Text
             * @default
             */
            text: string;
            /**
             * Comment
             * @default
             */
            comment: string;
            /** Owner Id */
            owner_id?: string | null;
            /** Based On */
            based_on: number;
        };
        /** AlertRuleVersionOut */
        AlertRuleVersionOut: {
            /** Version */
            version: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Target */
            target: string;
            /** Min Effect */
            min_effect: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Period Hours */
            period_hours: number | null;
            /** Text */
            text: string;
            /** Comment */
            comment: string;
            owner: components["schemas"]["AccountOut"] | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * AnnotationIn
         * @description A note at an instant, on a series or on a target (then on all its series).
         */
        AnnotationIn: {
            /** Series Id */
            series_id?: string | null;
            /** Target Id */
            target_id?: string | null;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit?: string | null;
            /** Text */
            text: string;
        };
        /** AnnotationOut */
        AnnotationOut: {
            /** Id */
            id: string;
            /** Series Id */
            series_id: string | null;
            /** Target Id */
            target_id: string | null;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit: string | null;
            /** Text */
            text: string;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * AppliedOut
         * @description The rule that decides about a measurement; `rule_id` is null for a built-in default.
         */
        AppliedOut: {
            /** Rule Id */
            rule_id: string | null;
            /** Version */
            version: number | null;
            /** Name */
            name: string;
            /** Text */
            text: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /** Min Effect */
            min_effect: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Muted */
            muted: string | null;
        };
        /** ArmDistributionOut */
        ArmDistributionOut: {
            /** Arm */
            arm: string;
            /** N */
            n: number;
            /** Median */
            median: number;
            /** Points */
            points: components["schemas"]["EcdfPointOut"][];
        };
        /**
         * ArmStandingOut
         * @description A watched arm on a target, by its newest comparison at each point of the params. `points_so` of its `points`
         *     decide the standing; ratio, words, time, run and job are those of the worst.
         */
        ArmStandingOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Title */
            title: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Metric */
            metric: string;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /**
             * Standing
             * @enum {string}
             */
            standing: "lost" | "undecided" | "not_measured" | "not_available" | "won";
            /** Points */
            points: number;
            /** Points So */
            points_so: number;
            /** Ratio */
            ratio: number | null;
            /** Words */
            words: string;
            /** At */
            at: string | null;
            /** Run Id */
            run_id: string | null;
            /** Job Id */
            job_id: string | null;
        };
        /**
         * ArmStandingsOut
         * @description Every arm that a rule of its suite watches, on every target that can run it: `rows` are the worst of
         *     `total`. Suites with the most lost arms come first, real targets before simulated ones.
         */
        ArmStandingsOut: {
            /** Targets */
            targets: components["schemas"]["StandingsTargetOut"][];
            /** Suites */
            suites: components["schemas"]["SuiteStandingsOut"][];
            /** Rows */
            rows: components["schemas"]["ArmStandingOut"][];
            /** Total */
            total: number;
        };
        /**
         * ArmsOut
         * @description The newest comparisons of a benchmark per target, with the rule and a summary in words.
         */
        ArmsOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Reference */
            reference: string;
            /** Device Reference */
            device_reference: string;
            /** Metric */
            metric: string;
            /** Rule */
            rule: string;
            /** Summary */
            summary: string;
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonOut"][];
            /** Name Texts */
            name_texts: {
                [key: string]: string;
            };
        };
        /** AssigneeIn */
        AssigneeIn: {
            /** Account Id */
            account_id: string | null;
        };
        /**
         * AuditEntryOut
         * @description A change somebody made: `action` is a verb, `detail` depends on it, `words` is a sentence.
         */
        AuditEntryOut: {
            /** Id */
            id: number;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Actor */
            actor: string;
            /**
             * Actor Kind
             * @enum {string}
             */
            actor_kind: "account" | "token" | "agent" | "system" | "anonymous";
            /** Action */
            action: string;
            /** Object Kind */
            object_kind: string;
            /** Object Id */
            object_id: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
            /** Words */
            words: string;
        };
        /**
         * AuditFindingOut
         * @description A defect of the protocol. If it is `decisive`, the comparisons it concerns are inconclusive.
         */
        AuditFindingOut: {
            /** Name */
            name: string;
            /** Arms */
            arms: string[];
            /** Text */
            text: string;
            /** Decisive */
            decisive: boolean;
        };
        /**
         * AuditOut
         * @description The audit findings of a group. `naive`: the comparison of means alone.
         */
        AuditOut: {
            /** Benchmark */
            benchmark: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Findings */
            findings: components["schemas"]["AuditFindingOut"][];
            /** Naive */
            naive: string | null;
        };
        /**
         * BadgeOut
         * @description A badge in the form that shields.io's endpoint reads (schema version 1).
         */
        BadgeOut: {
            /**
             * Schemaversion
             * @default 1
             * @constant
             */
            schemaVersion: 1;
            /** Label */
            label: string;
            /** Message */
            message: string;
            /** Color */
            color: string;
            /**
             * Cacheseconds
             * @default 60
             */
            cacheSeconds: number;
        };
        /**
         * BaseOut
         * @description The other revision of an A/B job. With `same_artifact` both sides ran the same bytes, so any difference is
         *     due to the environment (I15).
         */
        BaseOut: {
            /** Revision */
            revision: string;
            /** Artifact Hash */
            artifact_hash: string | null;
            /** Same Artifact */
            same_artifact: boolean;
        };
        /**
         * BenchmarkOut
         * @description A benchmark. Arms are compared with `reference` on hosts and with `device_reference` on devices, each
         *     with its margin.
         */
        BenchmarkOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description: string | null;
            /** Workload */
            workload: string;
            /** Arms */
            arms: string[];
            /** Reference */
            reference: string;
            /** Device Reference */
            device_reference: string;
            /** Params */
            params: components["schemas"]["ParamOut"][];
            /** Metrics */
            metrics: components["schemas"]["MetricOut"][];
            /** Margin Percent */
            margin_percent: number;
            /** Device Margin Percent */
            device_margin_percent: number;
        };
        /**
         * BisectIn
         * @description `budget` limits the A/B jobs; null means the server's setting.
         */
        BisectIn: {
            /** Budget */
            budget?: number | null;
        };
        /**
         * BisectionOut
         * @description A bisection and its progress.
         *
         *     `good` and `bad` are indexes into `commits` (−1 is the base): the culprit is after `good`, and at or before
         *     `bad`. `used` of at most `budget` A/B jobs were requested.
         */
        BisectionOut: {
            /** Id */
            id: string;
            /**
             * State
             * @enum {string}
             */
            state: "running" | "found" | "exhausted" | "undecided" | "failed";
            /** Base Commit */
            base_commit: string | null;
            /** Commits */
            commits: components["schemas"]["CommitOut"][];
            /** Good */
            good: number;
            /** Bad */
            bad: number;
            /** Left */
            left: number;
            /** Budget */
            budget: number;
            /** Used */
            used: number;
            /** Steps */
            steps: components["schemas"]["BisectionStepOut"][];
            culprit: components["schemas"]["CulpritOut"] | null;
            /** Words */
            words: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
        };
        /**
         * BisectionStepOut
         * @description One A/B job of the base against `commit`.
         *
         *     `index` counts from the oldest commit after the base; null means the head, measured first to see whether it
         *     differs at all. `verdict` is null while measuring, `skipped` if the commit could not be measured, and
         *     `failed` if its job failed for another reason.
         */
        BisectionStepOut: {
            /** Index */
            index: number | null;
            /** Commit */
            commit: string;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string | null;
            /** Verdict */
            verdict: ("fail" | "pass" | "inconclusive" | "failed" | "skipped") | null;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Words */
            words: string;
        };
        /**
         * BoundTargetOut
         * @description A target that belongs to an agent.
         */
        BoundTargetOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Serial */
            serial: string;
        };
        /**
         * BrowserSessionOut
         * @description A session of one browser. `ends_at`: when it ends if it is not used before.
         */
        BrowserSessionOut: {
            /** Id */
            id: string;
            /** Method */
            method: string;
            /** Device */
            device: string;
            /** Place */
            place: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Last Seen At
             * Format: date-time
             */
            last_seen_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /**
             * Ends At
             * Format: date-time
             */
            ends_at: string;
            /** Is Current */
            is_current: boolean;
        };
        /**
         * BulkIn
         * @description One decision about several alerts, applied to all of them or none.
         *
         *     At least one of `action`, `assign`, `due` and `note` is required. A note without an action is a remark.
         */
        BulkIn: {
            /** Alert Ids */
            alert_ids: string[];
            /** Action */
            action?: ("acknowledge" | "fixed" | "expected" | "invalid" | "infra" | "reopen") | null;
            assign?: components["schemas"]["AssigneeIn"] | null;
            due?: components["schemas"]["DueIn"] | null;
            /** Note */
            note?: string | null;
            /** Baseline Commit */
            baseline_commit?: string | null;
        };
        /**
         * ChangeFilterOut
         * @description A condition that a change had to meet.
         */
        ChangeFilterOut: {
            /** Name */
            name: string;
            /** Value */
            value: number | null;
            /** Limit */
            limit: number;
            /** Passed */
            passed: boolean;
        };
        /**
         * ChangeOut
         * @description A change of a series' level. `job_id`, `at` and `commit` are those of the first point at the new level.
         *     The change lies between the jobs `location_first` and `location_last`, both included. `effect` is level
         *     after ÷ level before − 1, with its 99 % interval. `evaluations`: consecutive evaluations that found it.
         */
        ChangeOut: {
            /** Id */
            id: string;
            /** Series Id */
            series_id: string;
            /**
             * State
             * @enum {string}
             */
            state: "suspect" | "standing" | "vanished" | "accepted" | "superseded";
            /** Job Id */
            job_id: string;
            /** Run Id */
            run_id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Before Commit */
            before_commit: string;
            /** Commit */
            commit: string;
            /** Location First */
            location_first: string;
            /** Location Last */
            location_last: string;
            /**
             * Direction
             * @enum {string}
             */
            direction: "slower" | "faster" | "worse" | "better";
            /** Level Before */
            level_before: number;
            /** Level After */
            level_after: number;
            /** Effect */
            effect: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** P Value */
            p_value: number;
            /** N Before */
            n_before: number;
            /** N After */
            n_after: number;
            /** Evaluations */
            evaluations: number;
            /** Cause */
            cause: ("code" | "environment" | "target") | null;
            /** Cause Text */
            cause_text: string | null;
            /** Words */
            words: string;
            /** Interval Words */
            interval_words: string;
            /** Method */
            method: string;
            /** Filters */
            filters: components["schemas"]["ChangeFilterOut"][];
            /** Alert Id */
            alert_id: string | null;
            /**
             * Found At
             * Format: date-time
             */
            found_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
        };
        /**
         * ChangeSinceOut
         * @description A change of a series' level that was found in the period.
         */
        ChangeSinceOut: {
            /** Id */
            id: string;
            /** Series Id */
            series_id: string;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Title */
            title: string | null;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /**
             * State
             * @enum {string}
             */
            state: "suspect" | "standing" | "vanished" | "accepted" | "superseded";
            /**
             * Direction
             * @enum {string}
             */
            direction: "slower" | "faster" | "worse" | "better";
            /** Words */
            words: string;
            /** Commit */
            commit: string;
            /** Alert Id */
            alert_id: string | null;
            /**
             * Found At
             * Format: date-time
             */
            found_at: string;
        };
        /**
         * ChannelCreatedOut
         * @description A channel and the secret of its key, which is returned only here; only webhooks have one.
         */
        ChannelCreatedOut: {
            channel: components["schemas"]["ChannelOut"];
            /** Secret */
            secret: string | null;
        };
        /**
         * ChannelIn
         * @description A new channel. A webhook's URL receives signed POST requests, Slack's a message of Slack's blocks, a chat's the
         *     message of `template`. E-mail has `recipients` instead. `digest_at`: send one message a day instead of single
         *     ones.
         */
        ChannelIn: {
            /** Name */
            name: string;
            /**
             * Kind
             * @default webhook
             * @enum {string}
             */
            kind: "webhook" | "slack" | "chat" | "email";
            /** Url */
            url?: string | null;
            /** Recipients */
            recipients?: string[] | null;
            /** Template */
            template?: {
                [key: string]: unknown;
            } | null;
            /**
             * @default {
             *       "severities": [],
             *       "kinds": [],
             *       "states": [],
             *       "suites": [],
             *       "targets": [],
             *       "branches": []
             *     }
             */
            filters: components["schemas"]["FiltersIn"];
            /**
             * Time Zone
             * @default UTC
             */
            time_zone: string;
            /** Digest At */
            digest_at?: string | null;
        };
        /** ChannelKeyOut */
        ChannelKeyOut: {
            /** Id */
            id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Valid Until */
            valid_until: string | null;
        };
        /**
         * ChannelMuteIn
         * @description A mute. Events in that time are listed as skipped and not sent later.
         */
        ChannelMuteIn: {
            /** Hours */
            hours: number;
        };
        /**
         * ChannelOut
         * @description A channel. `waiting`: the number of unfinished deliveries. `address`: the receiver's URL without parts that may
         *     be secret, or the recipients. `keys`: those that sign now, the newest first.
         */
        ChannelOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "webhook" | "slack" | "chat" | "email";
            /** Address */
            address: string;
            /** Template */
            template: {
                [key: string]: unknown;
            } | null;
            /**
             * Origin
             * @enum {string}
             */
            origin: "api" | "environment";
            filters: components["schemas"]["FiltersOut"];
            /** Time Zone */
            time_zone: string;
            /** Digest At */
            digest_at: string | null;
            /** Muted Until */
            muted_until: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "healthy" | "failing" | "broken";
            /** Failing Since */
            failing_since: string | null;
            /** Retry At */
            retry_at: string | null;
            /** Last Error */
            last_error: string | null;
            /** Waiting */
            waiting: number;
            owner: components["schemas"]["AccountOut"] | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Keys */
            keys: components["schemas"]["ChannelKeyOut"][];
        };
        /**
         * ChannelPatchIn
         * @description The fields to change. `digest_at` null ends digests.
         */
        ChannelPatchIn: {
            /** Name */
            name?: string | null;
            /** Url */
            url?: string | null;
            /** Recipients */
            recipients?: string[] | null;
            /** Template */
            template?: {
                [key: string]: unknown;
            } | null;
            filters?: components["schemas"]["FiltersIn"] | null;
            /** Time Zone */
            time_zone?: string | null;
            /** Digest At */
            digest_at?: string | null;
        };
        /**
         * CheckIn
         * @description A finished health check. `infrastructure`: whether the device or the connection to it failed; false if the
         *     device was only hot, low on charge or full.
         */
        CheckIn: {
            /** Id */
            id: string;
            /** Started At Ms Ago */
            started_at_ms_ago: number;
            /** Took Ms */
            took_ms: number;
            /** Ok */
            ok: boolean;
            /**
             * Infrastructure
             * @default false
             */
            infrastructure: boolean;
            /** Steps */
            steps: components["schemas"]["CheckStepIn"][];
            /** Raw */
            raw?: components["schemas"]["RawIn"][];
        };
        /** CheckOut */
        CheckOut: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean;
            /** Detail */
            detail: string;
        };
        /**
         * CheckStepIn
         * @description One step of a health check. `ok` null: not checked, which is neither a failure nor a pass.
         */
        CheckStepIn: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean | null;
            /**
             * Text
             * @default
             */
            text: string;
            /** Value */
            value?: number | null;
            /** Unit */
            unit?: string | null;
        };
        /**
         * CheckStepOut
         * @description One step of a health check. `ok` null: not checked.
         */
        CheckStepOut: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean | null;
            /** Text */
            text: string;
            /** Value */
            value: number | null;
            /** Unit */
            unit: string | null;
        };
        /**
         * ChoicesOut
         * @description The values that a filter can take: all that both sides measured, ignoring the current filter.
         */
        ChoicesOut: {
            /** Targets */
            targets: components["schemas"]["TargetChoiceOut"][];
            /** Benchmarks */
            benchmarks: string[];
            /** Metrics */
            metrics: string[];
        };
        /**
         * ClaimOut
         * @description An agent that announces another agent's target: `agent` claims it, `owner` has it.
         */
        ClaimOut: {
            /** Id */
            id: string;
            target: components["schemas"]["BoundTargetOut"];
            agent: components["schemas"]["AgentNameOut"];
            owner: components["schemas"]["AgentNameOut"];
            /**
             * State
             * @enum {string}
             */
            state: "open" | "moved" | "dismissed";
            /**
             * First At
             * Format: date-time
             */
            first_at: string;
            /**
             * Last At
             * Format: date-time
             */
            last_at: string;
            /** Decided By */
            decided_by: string | null;
            /** Decided At */
            decided_at: string | null;
        };
        /** CommitOut */
        CommitOut: {
            /** Commit */
            commit: string;
            /** Author */
            author: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Subject */
            subject: string;
        };
        /**
         * CommitVerdictsOut
         * @description The runs of a commit, the newest first. `outcome`: the worst outcome among the newest run of each suite, without
         *     demonstrations; null if there is none.
         */
        CommitVerdictsOut: {
            /** Commit */
            commit: string;
            /** Outcome */
            outcome: ("queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled") | null;
            /** Runs */
            runs: components["schemas"]["RunVerdictOut"][];
        };
        /**
         * CompareOut
         * @description A comparison of two revisions or runs: differences of their environments, and every measurement, the
         *     clearest and largest first.
         *
         *     `total` counts the rows of all pages, `hidden` those that `hide_uncertain` left out. `next` is the cursor
         *     of the next page, null on the last. Note and summary cover all rows.
         */
        CompareOut: {
            /** Suite */
            suite: string;
            base: components["schemas"]["CompareSideOut"];
            head: components["schemas"]["CompareSideOut"];
            /** Note */
            note: string;
            /** Same Environment */
            same_environment: boolean;
            /** Environment */
            environment: components["schemas"]["EnvironmentDifferenceOut"][];
            /** Summary */
            summary: string;
            choices: components["schemas"]["ChoicesOut"];
            /** Total */
            total: number;
            /** Hidden */
            hidden: number;
            /** Rows */
            rows: components["schemas"]["CompareRowOut"][];
            /** Name Texts */
            name_texts: {
                [key: string]: string;
            };
            /** Next */
            next: string | null;
        };
        /**
         * CompareRowOut
         * @description A measurement on both sides; a side is null if it did not measure it.
         *
         *     `ratio` is the cost of head ÷ base, above 1 is worse. `significance` is clear if the interval excludes 1 and
         *     the ratio exceeds the noise floor; a row without a verdict is uncertain if a side is excluded. `judged` is
         *     true if an A/B job of this pair decided; then `verdict` and the interval are that job's (I11). Without a
         *     verdict, `verdict_job_id` names an A/B job of the pair that could not decide.
         */
        CompareRowOut: {
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Series Id */
            series_id: string | null;
            base: components["schemas"]["MeasuredSideOut"] | null;
            head: components["schemas"]["MeasuredSideOut"] | null;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Mde */
            mde: number | null;
            /** Words */
            words: string;
            /**
             * Significance
             * @enum {string}
             */
            significance: "clear" | "below_noise" | "uncertain";
            /**
             * Magnitude
             * @enum {string}
             */
            magnitude: "none" | "small" | "medium" | "large";
            /** Judged */
            judged: boolean;
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive" | "not_applicable") | null;
            /** Verdict Job Id */
            verdict_job_id: string | null;
        };
        /**
         * CompareSideOut
         * @description One side of a comparison: a run, or the runs of a revision. `name` is the name in the request.
         */
        CompareSideOut: {
            /** Name */
            name: string;
            /** Run Id */
            run_id: string | null;
            /** Commit */
            commit: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Runs */
            runs: number;
            /** Demonstration */
            demonstration: boolean;
        };
        /**
         * ComparisonOut
         * @description An arm compared with the reference at the same params. `ratio` is arm time ÷ reference time, below 1 for
         *     faster, for every metric. `lower` and `upper` bound the paired ratio by order statistics.
         *
         *     With `sides` "revisions", the arm at the job's commit (head) is compared with the same arm at its base;
         *     `reference` is then `base`.
         */
        ComparisonOut: {
            /** Benchmark */
            benchmark: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Launches */
            launches: number;
            /** Blocks */
            blocks: number;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Share Slower */
            share_slower: number | null;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail" | "inconclusive" | "not_applicable";
            /** Reason */
            reason: string;
            /** Words */
            words: string;
            /** Margin Percent */
            margin_percent: number;
            /** Launch Ratios */
            launch_ratios: number[];
            /** Run Id */
            run_id: string | null;
            /** Job Id */
            job_id: string | null;
            /** Target Id */
            target_id: string | null;
            /** Target Name */
            target_name: string | null;
            /** Measured At */
            measured_at: string | null;
            /**
             * Demonstration
             * @default false
             */
            demonstration: boolean;
            /**
             * Sides
             * @default arms
             * @enum {string}
             */
            sides: "arms" | "revisions";
            /** Decides */
            decides: boolean | null;
            /**
             * Extra Percent
             * @default 0
             */
            extra_percent: number;
            /** Launches Needed */
            launches_needed: number | null;
            waived: components["schemas"]["WaivedOut"] | null;
            /** Witness */
            witness: ("pass" | "fail" | "inconclusive") | null;
        };
        /**
         * CompletenessOut
         * @description How many cases of a run arrived; `words` is like "3 of 41 missing (2 crash, 1 skipped)". `pending` cases may
         *     still arrive; the workload reported `unavailable` ones as impossible on their target.
         */
        CompletenessOut: {
            /** Run Id */
            run_id: string;
            /** Suite */
            suite: string;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "active" | "done" | "failed" | "cancelled";
            /**
             * Trigger
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import" | "recorded";
            /** Words */
            words: string;
            /** Complete */
            complete: boolean;
            /** Declared */
            declared: number;
            /** Arrived */
            arrived: number;
            /** Pending */
            pending: number;
            /** Unavailable */
            unavailable: number;
            /** Unaffected */
            unaffected: number;
            /** Missing */
            missing: components["schemas"]["MissingCaseOut"][];
            /** Missing Total */
            missing_total: number;
            /** Missing Groups */
            missing_groups: components["schemas"]["MissingGroupOut"][];
            /** Gone */
            gone: components["schemas"]["GoneOut"][];
        };
        /**
         * ConditionsOut
         * @description Conditions of a target. `raw`: the output from which a device's values were read, only with `expand=raw`.
         */
        ConditionsOut: {
            /** Seq */
            seq: number;
            /**
             * Phase
             * @enum {string}
             */
            phase: "before" | "during" | "after";
            /** At Ms */
            at_ms: number;
            /** Values */
            values: {
                [key: string]: unknown;
            };
            /** Raw */
            raw: components["schemas"]["RawOut"][] | null;
        };
        /**
         * ConfigurationErrorOut
         * @description A setting of the device that makes its jobs inconclusive unless a job suppresses this name.
         */
        ConfigurationErrorOut: {
            /** Name */
            name: string;
            /** Text */
            text: string;
            /** Advice */
            advice: string;
        };
        /**
         * ConnectionIn
         * @description How the agent reaches the device, or why it does not and what to do.
         */
        ConnectionIn: {
            /**
             * State
             * @enum {string}
             */
            state: "absent" | "offline" | "unauthorized" | "booting" | "online";
            /** Reason */
            reason?: string | null;
            /** Advice */
            advice?: string | null;
            /** Route */
            route?: string | null;
        };
        /** ConnectionOut */
        ConnectionOut: {
            /**
             * State
             * @enum {string}
             */
            state: "absent" | "offline" | "unauthorized" | "booting" | "online";
            /** Reason */
            reason: string | null;
            /** Advice */
            advice: string | null;
            /** Route */
            route: string | null;
            /** Since */
            since: string | null;
        };
        /**
         * CredentialOut
         * @description A new credential, which is returned only here; null if the request was made with the newest one.
         */
        CredentialOut: {
            /** Credential */
            credential: string | null;
        };
        /**
         * CrossoverOut
         * @description The value of the param from which on the arm wins, interpolated between measured values. Its `confidence`
         *     interval is `lower` to `upper`; null means below the smallest or above the largest measured value.
         *     `measured_from`: the smallest measured value from which on the arm wins at every one with 99.8 %
         *     confidence.
         */
        CrossoverOut: {
            /** Benchmark */
            benchmark: string;
            /**
             * Answer
             * @enum {string}
             */
            answer: "from" | "always" | "never" | "undecided" | "unknown";
            /** Value */
            value: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Confidence */
            confidence: number;
            /** Measured From */
            measured_from: number | null;
            /** Smallest */
            smallest: number | null;
            /** Largest */
            largest: number | null;
            /** Monotone */
            monotone: boolean;
            /** Reason */
            reason: string;
            /** Words */
            words: string;
            /** Points */
            points: components["schemas"]["CrossoverPointOut"][];
        };
        /**
         * CrossoverPointOut
         * @description A measured value of the param. `ratio` is arm time ÷ reference time, below 1 for faster; `lower` and
         *     `upper` bound its 99.8 % interval; `fitted` is the isotonic fit through all values.
         */
        CrossoverPointOut: {
            /** At */
            at: number;
            /** Ratio */
            ratio: number;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Fitted */
            fitted: number;
            /**
             * Winner
             * @enum {string}
             */
            winner: "arm" | "reference" | "undecided";
            /** Blocks */
            blocks: number;
            /** Launches */
            launches: number;
        };
        /**
         * CulpritOut
         * @description The commit to blame; `ratio` is its value ÷ the base's in one A/B job, with that job's interval.
         */
        CulpritOut: {
            /** Commit */
            commit: string;
            /** Author */
            author: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Subject */
            subject: string;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
        };
        /** DeliveryAttemptOut */
        DeliveryAttemptOut: {
            /** Number */
            number: number;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Status */
            status: number | null;
            /** Answer */
            answer: string;
            /** Error */
            error: string | null;
            /** Latency Ms */
            latency_ms: number;
        };
        /**
         * DeliveryDetailOut
         * @description A delivery with its message and all attempts; `payload` is null before the first attempt.
         */
        DeliveryDetailOut: {
            /** Id */
            id: string;
            /** Channel Id */
            channel_id: string;
            /** Notification Id */
            notification_id: string;
            /** Kind */
            kind: string;
            /**
             * Severity
             * @enum {string}
             */
            severity: "critical" | "warning" | "info";
            /** Title */
            title: string;
            /** Url */
            url: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "collected" | "digested" | "delivered" | "failed" | "skipped";
            /** Reason */
            reason: string | null;
            /** Attempts */
            attempts: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Finished At */
            finished_at: string | null;
            /** Payload */
            payload: string | null;
            /** Log */
            log: components["schemas"]["DeliveryAttemptOut"][];
        };
        /**
         * DeliveryOut
         * @description One event to one channel. `notification_id` is the event's id, which receivers get as `webhook-id`.
         */
        DeliveryOut: {
            /** Id */
            id: string;
            /** Channel Id */
            channel_id: string;
            /** Notification Id */
            notification_id: string;
            /** Kind */
            kind: string;
            /**
             * Severity
             * @enum {string}
             */
            severity: "critical" | "warning" | "info";
            /** Title */
            title: string;
            /** Url */
            url: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "collected" | "digested" | "delivered" | "failed" | "skipped";
            /** Reason */
            reason: string | null;
            /** Attempts */
            attempts: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Finished At */
            finished_at: string | null;
        };
        /**
         * DerivedOut
         * @description A derived metric. If `value` is null, `answered` true means "there is no crossover"; otherwise `note` says
         *     why it is missing. `unit`: a ratio, a fraction, an exponent, or a value of `param`.
         */
        DerivedOut: {
            /** Name */
            name: string;
            /**
             * Kind
             * @default
             */
            kind: string;
            /** Benchmark */
            benchmark: string;
            /**
             * Metric
             * @default
             */
            metric: string;
            /** Arm */
            arm: string;
            /** Base Arm */
            base_arm: string | null;
            /** Part */
            part: string | null;
            /** Param */
            param: string | null;
            /** Rate Bytes Per S */
            rate_bytes_per_s: number | null;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Value */
            value: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /**
             * Unit
             * @default ratio
             * @enum {string}
             */
            unit: "ratio" | "share" | "exponent" | "param";
            /**
             * Answered
             * @default false
             */
            answered: boolean;
            /**
             * Words
             * @default
             */
            words: string;
            /**
             * Note
             * @default
             */
            note: string;
            /** Description */
            description: string | null;
        };
        /** DeviceCheckOut */
        DeviceCheckOut: {
            /** Id */
            id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Took Ms */
            took_ms: number;
            /** Ok */
            ok: boolean;
            /** Infrastructure */
            infrastructure: boolean;
            /** Steps */
            steps: components["schemas"]["CheckStepOut"][];
            /** Raw */
            raw: components["schemas"]["RawOut"][];
        };
        /**
         * DistributionOut
         * @description The empirical distribution of each arm: at most 150 points, values in the metric's base unit.
         */
        DistributionOut: {
            /** Job Id */
            job_id: string;
            /** Benchmark */
            benchmark: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /** Summary */
            summary: string;
            /** Arms */
            arms: components["schemas"]["ArmDistributionOut"][];
        };
        /**
         * DueIn
         * @description A date by which an alert should be resolved; null removes it.
         */
        DueIn: {
            /** Due At */
            due_at: string | null;
        };
        /** EcdfPointOut */
        EcdfPointOut: {
            /** Value */
            value: number;
            /** Share */
            share: number;
        };
        /** EnrolIn */
        EnrolIn: {
            /** Code */
            code: string;
            /** Name */
            name: string;
            /** Version */
            version: string;
            /** Host Serial */
            host_serial?: string | null;
        };
        /** EnrolOut */
        EnrolOut: {
            /** Agent Id */
            agent_id: string;
            /** Credential */
            credential: string;
        };
        /**
         * EnrolledAgentOut
         * @description An agent as an admin sees it. `state`: a revoked agent is refused for good. `credential_since`: when its newest
         *     valid credential was made; null if it has none.
         */
        EnrolledAgentOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Version */
            version: string;
            /**
             * State
             * @enum {string}
             */
            state: "online" | "offline" | "revoked";
            /** Last Seen At */
            last_seen_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Enrolled By */
            enrolled_by: string | null;
            /** Revoked At */
            revoked_at: string | null;
            /** Credential Since */
            credential_since: string | null;
            /** Rotation Requested At */
            rotation_requested_at: string | null;
            /** Silence Limit S */
            silence_limit_s: number | null;
            grant: components["schemas"]["GrantOut"];
            /** Targets */
            targets: components["schemas"]["BoundTargetOut"][];
        };
        /**
         * EnrolmentCodeIn
         * @description The grant of the agent that will use the code. `projects`: names, by default the request's project. In a pattern,
         *     `*` stands for any part of a name and `**` for anything.
         */
        EnrolmentCodeIn: {
            /** Projects */
            projects?: string[] | null;
            /** Repositories */
            repositories?: string[];
            /** Targets */
            targets?: string[];
            /** Replaces */
            replaces?: string | null;
        };
        /** EnrolmentCodeOut */
        EnrolmentCodeOut: {
            /** Code */
            code: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * EnvironmentDifferenceOut
         * @description A factor of a target that differs between the sides; `factor` is null if it is unknown what differs.
         */
        EnvironmentDifferenceOut: {
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Factor */
            factor: string | null;
            /** Base */
            base: string | number | boolean | null;
            /** Head */
            head: string | number | boolean | null;
            /** Words */
            words: string;
        };
        /**
         * EnvironmentOut
         * @description A stretch of a series with one state of the target and one meaning of its number. `change` says what differs from
         *     the environment before; `unit` is that of its values.
         */
        EnvironmentOut: {
            /** Index */
            index: number;
            /** Fingerprint */
            fingerprint: string;
            /** Factors */
            factors: {
                [key: string]: string | number | boolean | null;
            };
            /**
             * First At
             * Format: date-time
             */
            first_at: string;
            /** Change */
            change: string | null;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
        };
        /** ExcerptLineOut */
        ExcerptLineOut: {
            /** Text */
            text: string;
            /** Is Error */
            is_error: boolean;
        };
        /**
         * ExplainedFindingOut
         * @description A finding with its sentence, filters, data and method.
         */
        ExplainedFindingOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped";
            /**
             * Role
             * @enum {string}
             */
            role: "candidate" | "confirmation" | "recovery";
            /** Where */
            where: string;
            /** Words */
            words: string;
            /** Filters */
            filters: components["schemas"]["FilterOut"][];
            window: components["schemas"]["WindowOut"];
            /** Segments */
            segments: components["schemas"]["SegmentStartOut"][];
            /** Method */
            method: string;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            rederived: components["schemas"]["RederivedOut"] | null;
        };
        /**
         * ExplanationOut
         * @description Why an alert exists: `sentence` is one paragraph for people, `cause_text` says why this cause
         *     was assigned.
         */
        ExplanationOut: {
            /** Alert Id */
            alert_id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped";
            /**
             * State
             * @enum {string}
             */
            state: "suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished";
            /** Title */
            title: string;
            /** Sentence */
            sentence: string;
            /** Cause */
            cause: ("code" | "environment" | "target") | null;
            /** Cause Text */
            cause_text: string | null;
            /** Rule */
            rule: string;
            /** Findings */
            findings: components["schemas"]["ExplainedFindingOut"][];
        };
        /**
         * FailureOut
         * @description Why a job ended without a verdict: its cause as a `title`, what happened, the first error of its output with
         *     the lines around it, and what to do next. `sentence` is empty if only the cause is known. Without a known
         *     error, `excerpt` is the end of the output.
         */
        FailureOut: {
            /** Title */
            title: string;
            /** Sentence */
            sentence: string;
            /** Excerpt */
            excerpt: components["schemas"]["ExcerptLineOut"][];
            /** Is Recognised */
            is_recognised: boolean;
            /** Advice */
            advice: string;
        };
        /**
         * FalseAlarmsOut
         * @description Paceline's false alarms (stats/README.md §4.8): alerts opened in the last `days` that vanished or were called
         *     invalid. `share` is null if fewer than five opened.
         */
        FalseAlarmsOut: {
            /** Days */
            days: number;
            /**
             * Since
             * Format: date-time
             */
            since: string;
            /** Opened */
            opened: number;
            /** Vanished */
            vanished: number;
            /** Invalid */
            invalid: number;
            /** Share */
            share: number | null;
            /** Words */
            words: string;
        };
        /**
         * FilterOut
         * @description One filter of the decision with its number and limit (I16).
         */
        FilterOut: {
            /** Name */
            name: string;
            /** Value */
            value: number | null;
            /** Limit */
            limit: number | null;
            /** Passed */
            passed: boolean;
            /** Text */
            text: string;
        };
        /**
         * FiltersIn
         * @description The events that a channel gets: every list that is not empty must have a pattern that matches the event. `*`
         *     stands for any characters. `targets` are names.
         */
        FiltersIn: {
            /** Severities */
            severities?: ("critical" | "warning" | "info")[];
            /** Kinds */
            kinds?: string[];
            /** States */
            states?: string[];
            /** Suites */
            suites?: string[];
            /** Targets */
            targets?: string[];
            /** Branches */
            branches?: string[];
        };
        /** FiltersOut */
        FiltersOut: {
            /** Severities */
            severities: ("critical" | "warning" | "info")[];
            /** Kinds */
            kinds: string[];
            /** States */
            states: string[];
            /** Suites */
            suites: string[];
            /** Targets */
            targets: string[];
            /** Branches */
            branches: string[];
        };
        /**
         * FindingOut
         * @description An immutable finding of detection.
         *
         *     A finding of a comparison has `verdict`, `ratio`, `launches` and `blocks`; `sides` says whether two arms or
         *     two revisions were compared. A finding of a series' change has `series_id` and no verdict; its `ratio` is
         *     the level after ÷ before, above 1 when it got worse, and `numbers` holds the rest. Its `window` is
         *     {points, first, last} with the ids of the first and last job, or {job_ids, values} with `expand=window`.
         */
        FindingOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped";
            /**
             * Role
             * @enum {string}
             */
            role: "candidate" | "confirmation" | "recovery";
            /** Run Id */
            run_id: string | null;
            /** Job Id */
            job_id: string | null;
            /** Series Id */
            series_id: string | null;
            /** Change Id */
            change_id: string | null;
            /** Sides */
            sides: ("arms" | "revisions") | null;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive" | "not_applicable") | null;
            /** Reason */
            reason: string;
            /** Words */
            words: string;
            /** Ratio */
            ratio: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Share Slower */
            share_slower: number | null;
            /** Launches */
            launches: number | null;
            /** Blocks */
            blocks: number | null;
            /** Numbers */
            numbers: {
                [key: string]: unknown;
            } | null;
            /** Method */
            method: string;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /** Filters */
            filters: components["schemas"]["FilterOut"][];
            /** Window */
            window: {
                [key: string]: unknown;
            };
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * FiredOut
         * @description A finding for which the rule would have raised an alert. `effect` is a share, above 0 is worse.
         */
        FiredOut: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit: string;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Effect */
            effect: number;
            /** Words */
            words: string;
            /** Alert Id */
            alert_id: string | null;
            /** Alert State */
            alert_state: string | null;
        };
        /**
         * FlippedVerdictOut
         * @description An arm at one point whose newest decided verdict, of the runs requested in the period, is another than the last
         *     one of the 90 days before, on the same target and branch. `words` is about the newest.
         */
        FlippedVerdictOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Branch */
            branch: string | null;
            /**
             * Before
             * @enum {string}
             */
            before: "pass" | "fail";
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail";
            /** Words */
            words: string;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /**
             * Measured At
             * Format: date-time
             */
            measured_at: string;
        };
        /**
         * FloorOut
         * @description The noisiest series a rule decides about; `mde` is a share.
         */
        FloorOut: {
            /** Mde */
            mde: number;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /**
             * Measured At
             * Format: date-time
             */
            measured_at: string;
            /** Words */
            words: string;
        };
        /**
         * GapOut
         * @description A period without readings, from the last reading before it to the first after it.
         */
        GapOut: {
            /**
             * After
             * Format: date-time
             */
            after: string;
            /**
             * Until
             * Format: date-time
             */
            until: string;
        };
        /** GateOut */
        GateOut: {
            /** Name */
            name: string | null;
            /** Description */
            description: string | null;
            /** Derived */
            derived: string | null;
            /** Requires */
            requires: string[];
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /** Statistic */
            statistic: string;
            /**
             * Absolute
             * @default false
             */
            absolute: boolean;
            /**
             * Op
             * @enum {string}
             */
            op: "<" | "<=" | ">" | ">=";
            /**
             * Level
             * @enum {string}
             */
            level: "required" | "stretch";
            /** Target */
            target: number;
            /** Actual */
            actual: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Reached */
            reached: number | null;
            /** Standing */
            standing: ("pass" | "close" | "below") | null;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail" | "inconclusive" | "not_applicable";
            /** Reason */
            reason: string;
            waived: components["schemas"]["WaivedOut"] | null;
            /** Witness */
            witness: ("pass" | "fail" | "inconclusive") | null;
        };
        /**
         * GoneOut
         * @description A benchmark or arm that earlier runs measured and the run's manifest does not declare, not even as an
         *     alias.
         */
        GoneOut: {
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string | null;
            /** Series */
            series: number;
            /**
             * Last At
             * Format: date-time
             */
            last_at: string;
            /** Last Run Id */
            last_run_id: string;
            /** Words */
            words: string;
        };
        /**
         * GrantIn
         * @description The grant of an agent from now on. `projects`: names.
         */
        GrantIn: {
            /** Projects */
            projects: string[];
            /** Repositories */
            repositories: string[];
            /** Targets */
            targets: string[];
        };
        /**
         * GrantOut
         * @description `projects`: names; `repositories` and `targets`: patterns in their canonical form.
         */
        GrantOut: {
            /** Projects */
            projects: string[];
            /** Repositories */
            repositories: string[];
            /** Targets */
            targets: string[];
        };
        /**
         * GrantedTargetOut
         * @description A target of the installation, and whether the project may use it.
         */
        GrantedTargetOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Kind */
            kind: string;
            /** Granted */
            granted: boolean;
        };
        /** HeadingIn */
        HeadingIn: {
            /** Name */
            name: string;
            /** Api */
            api: number;
            /**
             * Note
             * @default
             */
            note: string;
            /** Warmup Rounds */
            warmup_rounds?: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * HealthOut
         * @description The health of a device. `failures`: infrastructure failures since its last successful run.
         */
        HealthOut: {
            /**
             * State
             * @enum {string}
             */
            state: "unknown" | "checking" | "good" | "recovering" | "suspect" | "quarantined";
            /** Reason */
            reason: string | null;
            /** Advice */
            advice: string | null;
            /** Since */
            since: string | null;
            /** Failures */
            failures: number;
        };
        /**
         * HeartbeatIn
         * @description A heartbeat: an agent sends it at start and every `heartbeat_s`. A target's `refuses` says why it takes no jobs.
         *
         *     Each target is accepted or refused on its own, so an invalid value of one device does not stop the agent.
         */
        HeartbeatIn: {
            /** Version */
            version: string;
            /** Targets */
            targets: components["schemas"]["TargetAnnouncementIn"][];
            /** Suites */
            suites?: components["schemas"]["SuiteAnnounceIn"][];
        };
        /**
         * HeartbeatOut
         * @description `refused`, `refused_targets`: the parts of the heartbeat that were refused; all others were stored.
         */
        HeartbeatOut: {
            /** Heartbeat S */
            heartbeat_s: number;
            /** Refused */
            refused: components["schemas"]["SuiteRefusedOut"][];
            /** Refused Targets */
            refused_targets: components["schemas"]["TargetRefusedOut"][];
            /** Targets */
            targets: components["schemas"]["TargetReplyOut"][];
            /** Manifests Wanted */
            manifests_wanted: string[];
            /**
             * Rotate Credential
             * @default false
             */
            rotate_credential: boolean;
            /** Notes */
            notes: string[];
        };
        /**
         * ImportDetailOut
         * @description A stored document with its contents. `other_lines` belong to no row, such as counters. A document with samples
         *     has `runs` instead of rows; `why_no_verdict` says why they have no verdict, `left_out` what is in none of them. `tool`
         *     is the tool and its version, `facts` what it says about the build and the machine. `judged`: its points count in history;
         *     `notifies`: people hear of changes at them. `replaced_by` is the import of the corrected file, whose points count
         *     instead.
         */
        ImportDetailOut: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Format */
            format: string;
            /** Source */
            source: string;
            /** Sha256 */
            sha256: string;
            /**
             * Imported At
             * Format: date-time
             */
            imported_at: string;
            /** Imported By */
            imported_by: string;
            /** Devices */
            devices: string[];
            /** Row Count */
            row_count: number;
            /** Original Bytes */
            original_bytes: number | null;
            /** Rows */
            rows: components["schemas"]["ImportedRowOut"][];
            policy: components["schemas"]["ImportedPolicyOut"] | null;
            /** Advice */
            advice: components["schemas"]["ImportedAdviceOut"][];
            /** Other Lines */
            other_lines: string[];
            /** Why No Samples */
            why_no_samples: string;
            /**
             * Why No Verdict
             * @default
             */
            why_no_verdict: string;
            /** Runs */
            runs: components["schemas"]["ImportedRunOut"][];
            /** Left Out */
            left_out: components["schemas"]["LeftOutOut"][];
            /** Tool */
            tool: string | null;
            /** Facts */
            facts: {
                [key: string]: string;
            };
            /**
             * Judged
             * @default false
             */
            judged: boolean;
            /**
             * Notifies
             * @default false
             */
            notifies: boolean;
            /** Replaced By */
            replaced_by: string | null;
        };
        /**
         * ImportIn
         * @description A document to store; `title` defaults to its file name. `measured_on` applies to documents with samples; a
         *     `paceline.recording/1` has its own target, unless `on` names another, and is always judged. `original`
         *     is the file it was read from; without it a `paceline.result/1` is kept itself, and of others nothing is. `judge`: the
         *     points of a `paceline.result/1` count in the history of their series, like measured ones. `notify`: whether people hear
         *     of a change at these points; by default they do if the document is judged and was measured within the last three
         *     days.
         */
        ImportIn: {
            /** Document */
            document: components["schemas"]["LogcatIn"] | components["schemas"]["ResultIn"] | components["schemas"]["RecordingIn"];
            /** Title */
            title?: string | null;
            measured_on?: components["schemas"]["MeasuredOnIn"];
            original?: components["schemas"]["OriginalIn"] | null;
            /**
             * Judge
             * @default false
             */
            judge: boolean;
            /** Notify */
            notify?: boolean | null;
        };
        /**
         * ImportOut
         * @description A stored document. `devices` are the devices of its headings, or the target of its runs.
         *     `row_count` counts rows or series. `original_bytes` is the size of the kept file, null where none is.
         */
        ImportOut: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Format */
            format: string;
            /** Source */
            source: string;
            /** Sha256 */
            sha256: string;
            /**
             * Imported At
             * Format: date-time
             */
            imported_at: string;
            /** Imported By */
            imported_by: string;
            /** Devices */
            devices: string[];
            /** Row Count */
            row_count: number;
            /** Original Bytes */
            original_bytes: number | null;
        };
        /**
         * ImportPreviewOut
         * @description What would be stored of a file: its tool, what it says about its origin, and its series, of which `series` lists the
         *     first 200. `left_out` is what would be in no run. Null is what the file does not say.
         */
        ImportPreviewOut: {
            /** Tool */
            tool: string;
            /** Version */
            version: string | null;
            /** At */
            at: string | null;
            /** Commit */
            commit: string | null;
            /** Branch */
            branch: string | null;
            /** Facts */
            facts: {
                [key: string]: string;
            };
            /** Case Count */
            case_count: number;
            /** Series Count */
            series_count: number;
            /** Units */
            units: ("ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count")[];
            /** Series */
            series: components["schemas"]["ImportedSeriesOut"][];
            /** Left Out */
            left_out: components["schemas"]["LeftOutOut"][];
        };
        /**
         * ImportedAdviceOut
         * @description The policy compared with measurements on a target (stats/README.md §3), or with an imported device, which has no
         *     samples. `params` is the point of the policy's other params. `holds` is null if it is unknown.
         */
        ImportedAdviceOut: {
            /** Target Id */
            target_id: string | null;
            /** Target Name */
            target_name: string;
            /** Simulated */
            simulated: boolean;
            /** Suite */
            suite: string | null;
            /** Policy */
            policy: string | null;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Measured At */
            measured_at: string | null;
            /** Holds */
            holds: boolean | null;
            /** Words */
            words: string;
            /** Why */
            why: string;
        };
        /** ImportedInForceOut */
        ImportedInForceOut: {
            /** Minimum */
            minimum: number;
            /** Warmup Rounds */
            warmup_rounds: number | null;
        };
        /**
         * ImportedPolicyOut
         * @description The policy in force as the document states it.
         */
        ImportedPolicyOut: {
            in_force: components["schemas"]["ImportedInForceOut"];
            /** Unit */
            unit: string | null;
            /** Words */
            words: string;
            /** Source Text */
            source_text: string;
            /** Lines */
            lines: number[];
        };
        /**
         * ImportedRowOut
         * @description Both averages of a batch size on a device. `percent` is arm ÷ reference − 1, above 0 the arm is slower;
         *     `lower_percent` and `upper_percent` only reflect the rounding of printed figures, not confidence.
         */
        ImportedRowOut: {
            /** Id */
            id: string;
            /** Device */
            device: string;
            /** Model */
            model: string | null;
            /** Api */
            api: number | null;
            /** Variant */
            variant: string | null;
            /** Warmup Rounds */
            warmup_rounds: number | null;
            /** Params */
            params: {
                [key: string]: number;
            };
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Value Ns */
            value_ns: number;
            /** Value Printed */
            value_printed: string;
            /** Reference Ns */
            reference_ns: number;
            /** Reference Printed */
            reference_printed: string;
            /** Delta Ns */
            delta_ns: number;
            /** Delta Words */
            delta_words: string;
            /** Percent */
            percent: number | null;
            /** Lower Percent */
            lower_percent: number | null;
            /** Upper Percent */
            upper_percent: number | null;
            /** Words */
            words: string;
            /**
             * Verdict
             * @constant
             */
            verdict: "insufficient";
            /** Why */
            why: string;
            /** Raw */
            raw: string[];
        };
        /**
         * ImportedRunOut
         * @description An imported run. `baseline` is the branch of its series. `commit` and `at`, the time of measuring, are null where
         *     nobody said them.
         */
        ImportedRunOut: {
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /** Baseline */
            baseline: string;
            /** Commit */
            commit: string | null;
            /** At */
            at: string | null;
            /** Series */
            series: components["schemas"]["ImportedSeriesOut"][];
        };
        /**
         * ImportedSeriesOut
         * @description A benchmark of an imported run; `median` is per iteration, in `unit`. `outliers_mild` and `outliers_severe` count samples beyond Tukey's fences at
         *     1.5 and 3 interquartile ranges; these samples are kept. `summary` is `mean`, `median`, `minimum` or `maximum` where the
         *     tool kept no samples: then that is the only one.
         */
        ImportedSeriesOut: {
            /** Id */
            id: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /**
             * Metric
             * @default time
             */
            metric: string;
            /**
             * Unit
             * @default ns
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /** Samples */
            samples: number;
            /** Median */
            median: number;
            /** Outliers Mild */
            outliers_mild: number;
            /** Outliers Severe */
            outliers_severe: number;
            /** Summary */
            summary: string | null;
        };
        /**
         * InForceOut
         * @description The policy in force: the arm is used from `minimum` on, after `warmup_rounds` (null: not stated).
         */
        InForceOut: {
            /** Minimum */
            minimum: number;
            /** Warmup Rounds */
            warmup_rounds: number | null;
        };
        /**
         * IncidentOut
         * @description An incident for operators of Paceline; `detail` depends on `code`.
         */
        IncidentOut: {
            /** Id */
            id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Code */
            code: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
        };
        /**
         * InstallationAccountOut
         * @description An account as admins of the installation see it.
         */
        InstallationAccountOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Email */
            email: string | null;
            /** Has Password */
            has_password: boolean;
            /** Is Installation Admin */
            is_installation_admin: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Disabled At */
            disabled_at: string | null;
        };
        /** InstallationAdminIn */
        InstallationAdminIn: {
            /** Is Installation Admin */
            is_installation_admin: boolean;
        };
        /**
         * InvitationAcceptIn
         * @description A new account for the invited address.
         */
        InvitationAcceptIn: {
            /** Token */
            token: string;
            /** Email */
            email: string;
            /** Name */
            name: string;
            /** Password */
            password: string;
        };
        /**
         * InvitationCreatedOut
         * @description A new invitation with its link, which is returned only here.
         */
        InvitationCreatedOut: {
            /** Id */
            id: string;
            /** Email */
            email: string;
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
            /**
             * State
             * @enum {string}
             */
            state: "open" | "accepted" | "expired" | "revoked";
            /** Invited By */
            invited_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Url */
            url: string;
        };
        /**
         * InvitationIn
         * @description The person to invite; whoever opens the link must enter the same address.
         */
        InvitationIn: {
            /** Email */
            email: string;
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
        };
        /**
         * InvitationLinkIn
         * @description The one-time token of an invitation's link.
         */
        InvitationLinkIn: {
            /** Token */
            token: string;
        };
        /**
         * InvitationOfferOut
         * @description The project and role that a link offers. The invited address is left out; the invited person knows it.
         */
        InvitationOfferOut: {
            /** Project */
            project: string;
            /** Title */
            title: string;
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
            /** Invited By */
            invited_by: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * InvitationOut
         * @description An invitation without its link.
         */
        InvitationOut: {
            /** Id */
            id: string;
            /** Email */
            email: string;
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
            /**
             * State
             * @enum {string}
             */
            state: "open" | "accepted" | "expired" | "revoked";
            /** Invited By */
            invited_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * IssueIn
         * @description The http or https address of the issue that tracks an alert; null removes it.
         */
        IssueIn: {
            /** Url */
            url: string | null;
        };
        /** ItemsOut */
        ItemsOut: {
            /** Stored */
            stored: number;
            /** Duplicates */
            duplicates: number;
        };
        /**
         * JobConditionsOut
         * @description The conditions of a target during an analysed job.
         */
        JobConditionsOut: {
            /** Job Id */
            job_id: string;
            /** Run Id */
            run_id: string;
            /** Suite */
            suite: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive") | null;
            /** Conditions */
            conditions: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** Suppressed */
            suppressed: string[];
        };
        /**
         * JobOut
         * @description A job. `outcome` is the word to show; `cause` and `cause_detail` say why it failed, was lost, expired or was
         *     cancelled, and are null if it was judged. `waiting_reason` is null while it measures and after its end, and left out
         *     of live events, because it changes with its target and with other jobs.
         */
        JobOut: {
            /** Id */
            id: string;
            /** Run Id */
            run_id: string;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "leased" | "preparing" | "measuring" | "uploading" | "analysing" | "done" | "failed" | "cancelled" | "lost" | "expired";
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Detail */
            detail: string | null;
            waiting_reason: components["schemas"]["WaitingReasonOut"] | null;
            /** Cause */
            cause: ("stream_invalid" | "workload_hung" | "workload_flooded" | "workload_crashed" | "workload_error" | "workload_no_terminal" | "check_failed" | "build_failed" | "suite_invalid" | "checkout_failed" | "agent_lost" | "agent_error" | "disk_full" | "target_refused" | "lease_lost" | "cancelled" | "device_lost" | "device_rebooted" | "device_refused" | "device_storage_full" | "device_unauthorized" | "placing_failed" | "analysis_failed") | null;
            /** Cause Detail */
            cause_detail: string | null;
            failure: components["schemas"]["FailureOut"] | null;
            /** Attempt */
            attempt: number;
            /** Batch */
            batch: number;
            /**
             * Launches
             * @default 5
             */
            launches: number;
            /** Partial */
            partial: boolean;
            progress: components["schemas"]["ProgressOut"] | null;
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive") | null;
            /** Reason */
            reason: string | null;
            /** Artifact Hash */
            artifact_hash: string | null;
            /** Base Artifact Hash */
            base_artifact_hash: string | null;
            /** Samples */
            samples: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Started At */
            started_at: string | null;
            /** Finished At */
            finished_at: string | null;
        };
        /**
         * JobReportOut
         * @description A job's report. That of an A/B job has a `base`, compares revisions, and has measurements of both sides; it
         *     judges arms, derived metrics and gates of the head only if its run `judges_head`.
         */
        JobReportOut: {
            /** Suite */
            suite: string;
            /** Revision */
            revision: string;
            /** Artifact Hash */
            artifact_hash: string | null;
            /** Target */
            target: string;
            /** Started At */
            started_at: string | null;
            /** Checks */
            checks: components["schemas"]["CheckOut"][];
            /** Measurements */
            measurements: components["schemas"]["MeasurementOut"][];
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonOut"][];
            /** Derived */
            derived: components["schemas"]["DerivedOut"][];
            /** Gates */
            gates: components["schemas"]["GateOut"][];
            /** Audits */
            audits: components["schemas"]["AuditOut"][];
            /** Unavailable */
            unavailable: components["schemas"]["UnavailableOut"][];
            /** Witnesses */
            witnesses: components["schemas"]["WitnessOut"][];
            base: components["schemas"]["BaseOut"] | null;
            /** Blockers */
            blockers: string[];
            /** Disturbances */
            disturbances: string[];
            /** Next Steps */
            next_steps: {
                [key: string]: string;
            };
            /**
             * Method
             * @default paired-sign-test/1
             */
            method: string;
            /**
             * Gate Method
             * @default gate-interval/1
             */
            gate_method: string;
            /** Reasons */
            reasons: components["schemas"]["ReasonOut"][];
            /** Missing */
            missing: string | null;
            unaffected: components["schemas"]["UnaffectedOut"] | null;
            saved: components["schemas"]["SavedLaunchesOut"] | null;
            /** Added */
            added: string[];
            /** Removed */
            removed: string[];
            /** Suppressed */
            suppressed: string[];
            /** Conditions */
            conditions: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** Name Texts */
            name_texts: {
                [key: string]: string;
            };
        };
        /**
         * JobVerdictsOut
         * @description The verdicts of one target's job. If it has no verdict, `failure` says why and the lists are empty.
         */
        JobVerdictsOut: {
            /** Job Id */
            job_id: string | null;
            /** Target */
            target: string;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Reason */
            reason: string;
            /** Reasons */
            reasons: components["schemas"]["ReasonOut"][];
            failure: components["schemas"]["FailureOut"] | null;
            /** Blockers */
            blockers: string[];
            unaffected: components["schemas"]["UnaffectedOut"] | null;
            /** Checks */
            checks: components["schemas"]["CheckOut"][];
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonOut"][];
            /** Gates */
            gates: components["schemas"]["GateOut"][];
            /** Witnesses */
            witnesses: components["schemas"]["WitnessOut"][];
        };
        /**
         * JoinedOut
         * @description The project that the person has joined.
         */
        JoinedOut: {
            /** Project */
            project: string;
        };
        /**
         * KnobOut
         * @description A workload option that is not a param. `demonstration` marks options that change the work on purpose, to show
         *     what an alert looks like.
         */
        KnobOut: {
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "int" | "enum";
            /** Default */
            default: number | string;
            /** Minimum */
            minimum: number | null;
            /** Maximum */
            maximum: number | null;
            /** Values */
            values: string[] | null;
            /** Demonstration */
            demonstration: boolean;
            /** Description */
            description: string;
        };
        /** LeaseIn */
        LeaseIn: {
            /** Target Ids */
            target_ids?: string[] | null;
            /**
             * Wait S
             * @default 25
             */
            wait_s: number;
        };
        /** LeaseOut */
        LeaseOut: {
            /** Job Id */
            job_id: string;
            /** Run Id */
            run_id: string;
            /** Attempt */
            attempt: number;
            /** Lease Token */
            lease_token: string;
            /** Lease S */
            lease_s: number;
            /** Target Id */
            target_id: string;
            /** Target Serial */
            target_serial: string;
            work: components["schemas"]["WorkOut"];
        };
        /**
         * LeftOutOut
         * @description A series of a document that no run has, where it was read, and why.
         */
        LeftOutOut: {
            /** Id */
            id: string | null;
            /** Path */
            path: string | null;
            /** Why */
            why: string;
        };
        /**
         * LinkSignInIn
         * @description The one-time token of a sign-in link.
         */
        LinkSignInIn: {
            /** Token */
            token: string;
        };
        /**
         * LiveSeriesOut
         * @description Recent values of a case while a job measures, thinned: `values` per iteration in the base unit. Only A/B
         *     jobs have a `side`.
         */
        LiveSeriesOut: {
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /** N */
            n: number;
            /** Median */
            median: number;
            /** Values */
            values: number[];
            /** Side */
            side: ("base" | "head") | null;
        };
        /** LogIn */
        LogIn: {
            /** Lines */
            lines: number;
            /**
             * Records
             * @default []
             */
            records: components["schemas"]["RecordIn"][];
            /**
             * Sessions
             * @default []
             */
            sessions: components["schemas"]["SessionIn"][];
            policy?: components["schemas"]["PolicyIn"] | null;
        } & {
            [key: string]: unknown;
        };
        /** LogLineOut */
        LogLineOut: {
            /** Seq */
            seq: number;
            /** Stream */
            stream: string;
            /** Text */
            text: string;
        };
        /**
         * LogcatIn
         * @description The import.json that `paceline import` writes for a log.
         */
        LogcatIn: {
            /**
             * V
             * @constant
             */
            v: 1;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            format: "logcat";
            /** File */
            file: string;
            /** Bytes */
            bytes: number;
            /** Sha256 */
            sha256: string;
            /** Why No Samples */
            why_no_samples: string;
            log: components["schemas"]["LogIn"];
        } & {
            [key: string]: unknown;
        };
        /**
         * MaintenanceIn
         * @description Whether a target is in maintenance. `until`: when it ends by itself; if omitted, a person ends it.
         */
        MaintenanceIn: {
            /** On */
            on: boolean;
            /** Reason */
            reason?: string | null;
            /** Until */
            until?: string | null;
        };
        /** MaintenanceOut */
        MaintenanceOut: {
            /** By */
            by: string;
            /** Reason */
            reason: string | null;
            /** Until */
            until: string | null;
            /**
             * Since
             * Format: date-time
             */
            since: string;
        };
        /**
         * MatrixCellOut
         * @description A benchmark on a target. Its value is that of the series named by `series_id` and `of` ("native time,
         *     batch=1000"); verdict, change and noise floor are the worst of all its `series`.
         */
        MatrixCellOut: {
            /** Target Id */
            target_id: string;
            /** Series */
            series: number;
            /** Series Id */
            series_id: string;
            /** Of */
            of: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /** Value */
            value: number;
            /** Excluded */
            excluded: string | null;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit: string;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive" | "not_applicable") | null;
            /** Verdict Words */
            verdict_words: string;
            change: components["schemas"]["ChangeOut"] | null;
            /** Changes */
            changes: {
                [key: string]: number;
            };
            /** Mde */
            mde: number | null;
            /** Stale */
            stale: boolean;
            /** Stale Words */
            stale_words: string | null;
        };
        /** MatrixOut */
        MatrixOut: {
            /** Suite */
            suite: string;
            /** Branch */
            branch: string;
            /** Branches */
            branches: string[];
            /** Targets */
            targets: components["schemas"]["MatrixTargetOut"][];
            /** Rows */
            rows: components["schemas"]["MatrixRowOut"][];
        };
        /**
         * MatrixRowOut
         * @description A benchmark. `declared` is false if only older manifests have it. `retired` is the reason a person gave
         *     when retiring it.
         */
        MatrixRowOut: {
            /** Benchmark */
            benchmark: string;
            /** Title */
            title: string;
            /** Declared */
            declared: boolean;
            /** Retired */
            retired: string | null;
            /** Cells */
            cells: components["schemas"]["MatrixCellOut"][];
            /** Unmeasured */
            unmeasured: components["schemas"]["MatrixUnmeasuredOut"][];
        };
        /**
         * MatrixTargetOut
         * @description A column of the matrix. `imported`: no agent measures there.
         */
        MatrixTargetOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Imported */
            imported: boolean;
        };
        /**
         * MatrixUnmeasuredOut
         * @description The newest job that should have measured a benchmark on a target ended without a verdict, so that its
         *     cell is older or absent. `words` says why.
         */
        MatrixUnmeasuredOut: {
            /** Target Id */
            target_id: string;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Cause */
            cause: ("stream_invalid" | "workload_hung" | "workload_flooded" | "workload_crashed" | "workload_error" | "workload_no_terminal" | "check_failed" | "build_failed" | "suite_invalid" | "checkout_failed" | "agent_lost" | "agent_error" | "disk_full" | "target_refused" | "lease_lost" | "cancelled" | "device_lost" | "device_rebooted" | "device_refused" | "device_storage_full" | "device_unauthorized" | "placing_failed" | "analysis_failed") | null;
            /** Words */
            words: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
        };
        /**
         * MeasuredOnIn
         * @description Where and what was measured. `suite` names an announced suite, whose gates apply to benchmarks of the same
         *     name; `on` names the target; `commit` is the revision that was measured, where the document does not say it.
         */
        MeasuredOnIn: {
            /** Suite */
            suite?: string | null;
            /**
             * On
             * @default imported
             */
            on: string;
            /** Commit */
            commit?: string | null;
        };
        /** MeasuredSideOut */
        MeasuredSideOut: {
            /** Value */
            value: number;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** N */
            n: number;
            /** Launches */
            launches: number;
            /** Job Id */
            job_id: string;
            /** Excluded */
            excluded: string | null;
        };
        /** MeasurementOut */
        MeasurementOut: {
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Launches */
            launches: number;
            /** N */
            n: number;
            /** Median */
            median: number;
            /** Mean */
            mean: number;
            /** P99 */
            p99: number;
            /** Min */
            min: number;
            /** Max */
            max: number;
            /** Sd */
            sd: number;
            /** Flags */
            flags: string[];
            /** Median Lower */
            median_lower: number | null;
            /** Median Upper */
            median_upper: number | null;
            /** Side */
            side: ("base" | "head") | null;
            /** Items */
            items: number | null;
            /** Bytes */
            bytes: number | null;
        };
        /**
         * MemberIn
         * @description A new member. `account`: the name or e-mail address of an existing account.
         */
        MemberIn: {
            /** Account */
            account: string;
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
        };
        /** MemberOut */
        MemberOut: {
            account: components["schemas"]["AccountOut"];
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
            /**
             * Since
             * Format: date-time
             */
            since: string;
            /** Disabled */
            disabled: boolean;
        };
        /**
         * MembershipOut
         * @description A project of the signed-in person; `role` is null for an admin of the installation who is not a member.
         */
        MembershipOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /**
             * Visibility
             * @enum {string}
             */
            visibility: "private" | "public";
            /** Role */
            role: ("viewer" | "triager" | "maintainer" | "admin") | null;
        };
        /** MetricOut */
        MetricOut: {
            /** Name */
            name: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
        };
        /**
         * MissingCaseOut
         * @description A declared case without samples; `text` explains `reason`.
         */
        MissingCaseOut: {
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Job Id */
            job_id: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /**
             * Reason
             * @enum {string}
             */
            reason: "pending" | "crash" | "timeout" | "error" | "build" | "skipped" | "lost" | "cancelled" | "expired" | "failed";
            /** Text */
            text: string;
        };
        /**
         * MissingGroupOut
         * @description The cases of a run that are missing for one reason; `words` is like "24 cases: build failed", `text`
         *     explains the reason.
         */
        MissingGroupOut: {
            /**
             * Reason
             * @enum {string}
             */
            reason: "pending" | "crash" | "timeout" | "error" | "build" | "skipped" | "lost" | "cancelled" | "expired" | "failed";
            /** Words */
            words: string;
            /** Count */
            count: number;
            /** Text */
            text: string;
            /** Targets */
            targets: components["schemas"]["TargetRefOut"][];
        };
        /** MuteIn */
        MuteIn: {
            /** Reason */
            reason: string;
            /** Hours */
            hours: number;
        };
        /** MuteOut */
        MuteOut: {
            /** Id */
            id: string;
            /** Reason */
            reason: string;
            /**
             * Until
             * Format: date-time
             */
            until: string;
            /** Muted By */
            muted_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Ended At */
            ended_at: string | null;
        };
        /**
         * NoiseBandOut
         * @description The minimum detectable effect `mde` (a fraction) of a series on its target. Between `lower` and `upper`,
         *     differences from the current level are noise. `basis`: measured by an A/A job (`a_a`), or estimated from the series'
         *     own scatter until there is one.
         */
        NoiseBandOut: {
            /** Mde */
            mde: number;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /**
             * Basis
             * @enum {string}
             */
            basis: "a_a" | "history";
            /**
             * Measured At
             * Format: date-time
             */
            measured_at: string;
            /** Job Id */
            job_id: string;
            /** Words */
            words: string;
        };
        /**
         * NoiseFloorOut
         * @description The minimum detectable effect `mde` (a fraction) of a measurement on a target, from its newest A/A job.
         *     An effect of that size is detected in 80 of 100 jobs. `lower` and `upper` bound the A/A ratio, which should
         *     include 1. Rules with a threshold below `mde` are refused; `proposed_threshold` is accepted.
         */
        NoiseFloorOut: {
            /** Id */
            id: string;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /** Mde */
            mde: number;
            /** Proposed Threshold */
            proposed_threshold: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Blocks */
            blocks: number;
            /** Launches */
            launches: number;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /**
             * Measured At
             * Format: date-time
             */
            measured_at: string;
            /** Words */
            words: string;
        };
        /**
         * OneTimeLinkOut
         * @description A link that works once; it is returned only here.
         */
        OneTimeLinkOut: {
            /** Url */
            url: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * OrderOut
         * @description An action on a device that a person requested of its agent.
         */
        OrderOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "check" | "reboot";
            /**
             * Life
             * @enum {string}
             */
            life: "pending" | "done" | "refused" | "expired";
            /** Requested By */
            requested_by: string;
            /**
             * Requested At
             * Format: date-time
             */
            requested_at: string;
            /** Why */
            why: string | null;
        };
        /**
         * OrderRefusedIn
         * @description An order the agent will not carry out, and why.
         */
        OrderRefusedIn: {
            /** Id */
            id: string;
            /**
             * Why
             * @default
             */
            why: string;
        };
        /**
         * OriginalIn
         * @description The file that a document was read from: its name, and its bytes as the Base64 of a gzip.
         */
        OriginalIn: {
            /** File */
            file: string;
            /** Gzip */
            gzip: string;
        };
        /** OrphanRuleOut */
        OrphanRuleOut: {
            /** Rule Id */
            rule_id: string;
            /** Name */
            name: string;
            /** Reason */
            reason: string;
        };
        /**
         * OrphansOut
         * @description Rules that match no live series, and series that no stored rule matches (at most 200 of `unruled_total`).
         */
        OrphansOut: {
            /** Living Days */
            living_days: number;
            /** Rules */
            rules: components["schemas"]["OrphanRuleOut"][];
            /** Unruled */
            unruled: components["schemas"]["UnruledOut"][];
            /** Unruled Total */
            unruled_total: number;
            /** Words */
            words: string;
        };
        /**
         * OverviewOut
         * @description Alerts by state without those in shadow, false alarms, agents and the newest runs.
         */
        OverviewOut: {
            /** Alerts By State */
            alerts_by_state: {
                [key: string]: number;
            };
            false_alarms: components["schemas"]["FalseAlarmsOut"];
            /** Agents */
            agents: components["schemas"]["AgentOut"][];
            /** Runs */
            runs: components["schemas"]["RunOut"][];
        };
        /** Page[AccountOut] */
        Page_AccountOut_: {
            /** Items */
            items: components["schemas"]["AccountOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[AgentOut] */
        Page_AgentOut_: {
            /** Items */
            items: components["schemas"]["AgentOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[AlertOut] */
        Page_AlertOut_: {
            /** Items */
            items: components["schemas"]["AlertOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[AlertRuleOut] */
        Page_AlertRuleOut_: {
            /** Items */
            items: components["schemas"]["AlertRuleOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[AlertRuleVersionOut] */
        Page_AlertRuleVersionOut_: {
            /** Items */
            items: components["schemas"]["AlertRuleVersionOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[AuditEntryOut] */
        Page_AuditEntryOut_: {
            /** Items */
            items: components["schemas"]["AuditEntryOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[BrowserSessionOut] */
        Page_BrowserSessionOut_: {
            /** Items */
            items: components["schemas"]["BrowserSessionOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ChannelOut] */
        Page_ChannelOut_: {
            /** Items */
            items: components["schemas"]["ChannelOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ClaimOut] */
        Page_ClaimOut_: {
            /** Items */
            items: components["schemas"]["ClaimOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ComparisonOut] */
        Page_ComparisonOut_: {
            /** Items */
            items: components["schemas"]["ComparisonOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ConditionsOut] */
        Page_ConditionsOut_: {
            /** Items */
            items: components["schemas"]["ConditionsOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[DeliveryOut] */
        Page_DeliveryOut_: {
            /** Items */
            items: components["schemas"]["DeliveryOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[EnrolledAgentOut] */
        Page_EnrolledAgentOut_: {
            /** Items */
            items: components["schemas"]["EnrolledAgentOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[GrantedTargetOut] */
        Page_GrantedTargetOut_: {
            /** Items */
            items: components["schemas"]["GrantedTargetOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ImportOut] */
        Page_ImportOut_: {
            /** Items */
            items: components["schemas"]["ImportOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[IncidentOut] */
        Page_IncidentOut_: {
            /** Items */
            items: components["schemas"]["IncidentOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[InstallationAccountOut] */
        Page_InstallationAccountOut_: {
            /** Items */
            items: components["schemas"]["InstallationAccountOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[InvitationOut] */
        Page_InvitationOut_: {
            /** Items */
            items: components["schemas"]["InvitationOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[LiveSeriesOut] */
        Page_LiveSeriesOut_: {
            /** Items */
            items: components["schemas"]["LiveSeriesOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[LogLineOut] */
        Page_LogLineOut_: {
            /** Items */
            items: components["schemas"]["LogLineOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[MemberOut] */
        Page_MemberOut_: {
            /** Items */
            items: components["schemas"]["MemberOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[NoiseFloorOut] */
        Page_NoiseFloorOut_: {
            /** Items */
            items: components["schemas"]["NoiseFloorOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[PolicyAdviceOut] */
        Page_PolicyAdviceOut_: {
            /** Items */
            items: components["schemas"]["PolicyAdviceOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ProjectOut] */
        Page_ProjectOut_: {
            /** Items */
            items: components["schemas"]["ProjectOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ReportedLineOut] */
        Page_ReportedLineOut_: {
            /** Items */
            items: components["schemas"]["ReportedLineOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[RetiredOut] */
        Page_RetiredOut_: {
            /** Items */
            items: components["schemas"]["RetiredOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[RunOut] */
        Page_RunOut_: {
            /** Items */
            items: components["schemas"]["RunOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ScheduleOut] */
        Page_ScheduleOut_: {
            /** Items */
            items: components["schemas"]["ScheduleOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[SeriesOut] */
        Page_SeriesOut_: {
            /** Items */
            items: components["schemas"]["SeriesOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[ShippedRuleOut] */
        Page_ShippedRuleOut_: {
            /** Items */
            items: components["schemas"]["ShippedRuleOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[SuiteOut] */
        Page_SuiteOut_: {
            /** Items */
            items: components["schemas"]["SuiteOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[TargetEventOut] */
        Page_TargetEventOut_: {
            /** Items */
            items: components["schemas"]["TargetEventOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[TargetOut] */
        Page_TargetOut_: {
            /** Items */
            items: components["schemas"]["TargetOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[TokenOut] */
        Page_TokenOut_: {
            /** Items */
            items: components["schemas"]["TokenOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[TriageBatchOut] */
        Page_TriageBatchOut_: {
            /** Items */
            items: components["schemas"]["TriageBatchOut"][];
            /** Next */
            next: string | null;
        };
        /** Page[WaiverOut] */
        Page_WaiverOut_: {
            /** Items */
            items: components["schemas"]["WaiverOut"][];
            /** Next */
            next: string | null;
        };
        /**
         * ParamOut
         * @description A param with its declared values in order. A run measures all combinations unless it selects some.
         */
        ParamOut: {
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "int" | "enum" | "regex";
            /** Values */
            values: (number | string)[];
            /** Unit */
            unit: string | null;
            /** Description */
            description: string | null;
            /** Minimum */
            minimum: number | null;
            /** Maximum */
            maximum: number | null;
        };
        /**
         * PasswordChangeIn
         * @description A new password. `current`: the current one, needed if the account has one.
         */
        PasswordChangeIn: {
            /** Current */
            current?: string | null;
            /** Password */
            password: string;
        };
        /**
         * PasswordResetIn
         * @description The one-time token of a reset link, and the new password.
         */
        PasswordResetIn: {
            /** Token */
            token: string;
            /** Password */
            password: string;
        };
        /** PasswordSignInIn */
        PasswordSignInIn: {
            /** Email */
            email: string;
            /** Password */
            password: string;
        };
        /**
         * PenaltyOut
         * @description The fitted slowdown (a fraction) against the warm level after `after` rounds of a fresh process.
         */
        PenaltyOut: {
            /** After */
            after: number;
            /** Penalty */
            penalty: number;
        };
        /**
         * PlanOut
         * @description What a job measures by the manifest at its commit, which its agent has reported.
         */
        PlanOut: {
            /** Benchmarks */
            benchmarks: string[];
        };
        /**
         * PointOut
         * @description The median of a job's `n` warm samples from `launches` launches, with its 99 % interval. `excluded`: why the
         *     point is shown but does not count. `environment` is an index into `environments`; `conditions` summarises the
         *     target's conditions during the job.
         */
        PointOut: {
            /** Job Id */
            job_id: string;
            /** Run Id */
            run_id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit: string;
            /** Artifact Hash */
            artifact_hash: string | null;
            /** Value */
            value: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** N */
            n: number;
            /** Launches */
            launches: number;
            /** Excluded */
            excluded: string | null;
            /** Environment */
            environment: number;
            /** Conditions */
            conditions: {
                [key: string]: components["schemas"]["TrackValueOut"];
            };
        };
        /**
         * PointsOut
         * @description The points of a window, oldest first. `total` is their number. If it exceeds `max_points`, the lowest
         *     and highest point of each bucket are shown, besides both ends and the points at which the level changed,
         *     and `note` says so. `first_at` and `last_at` span the whole series.
         */
        PointsOut: {
            /** Series Id */
            series_id: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /** Total */
            total: number;
            /** Thinned */
            thinned: boolean;
            /** Note */
            note: string;
            /** First At */
            first_at: string | null;
            /** Last At */
            last_at: string | null;
            /** Environments */
            environments: components["schemas"]["EnvironmentOut"][];
            /** Tracks */
            tracks: string[];
            /** Points */
            points: components["schemas"]["PointOut"][];
        };
        /**
         * PolicyAdviceOut
         * @description Advice about a policy on a target. `holds`: the minimum in force lies in the interval or picks no losing
         *     arm, and its warm-up rounds suffice; null if undecided.
         */
        PolicyAdviceOut: {
            /** Description */
            description: string | null;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Reference */
            reference: string;
            /** Metric */
            metric: string;
            /** Param */
            param: string;
            /** Unit */
            unit: string | null;
            /** Margin Percent */
            margin_percent: number;
            warm: components["schemas"]["CrossoverOut"];
            cold: components["schemas"]["CrossoverOut"] | null;
            warmup: components["schemas"]["WarmupOut"];
            /** Why */
            why: string;
            /** Words */
            words: string;
            /** Id */
            id: string;
            /** Suite */
            suite: string;
            /** Policy */
            policy: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            in_force: components["schemas"]["InForceOut"];
            /** Holds */
            holds: boolean | null;
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /** Commit */
            commit: string;
            /**
             * Measured At
             * Format: date-time
             */
            measured_at: string;
        };
        /** PolicyIn */
        PolicyIn: {
            /** Minimum */
            minimum: number;
            /** Unit */
            unit?: string | null;
            /** Warmup Rounds */
            warmup_rounds?: number | null;
            /**
             * Lines
             * @default []
             */
            lines: number[];
            /**
             * Text
             * @default
             */
            text: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * PrecisionOut
         * @description How the alerts of a rule ended.
         *
         *     `worth_it` counts fixed, expected and acknowledged alerts, `false` counts invalid, vanished and infra.
         *     `share` is worth_it / (worth_it + false), null below five outcomes.
         */
        PrecisionOut: {
            /** Worth It */
            worth_it: number;
            /** False */
            false: number;
            /** Undecided */
            undecided: number;
            /** Share */
            share: number | null;
            /** Words */
            words: string;
        };
        /**
         * PreflightFindingIn
         * @description One preflight observation with its advice, e.g. governor, turbo, SMT, virtualisation, load, battery.
         */
        PreflightFindingIn: {
            /** Code */
            code: string;
            /**
             * Level
             * @enum {string}
             */
            level: "info" | "warning" | "blocker";
            /** Text */
            text: string;
            /** Advice */
            advice?: string | null;
        };
        /** PreflightFindingOut */
        PreflightFindingOut: {
            /** Code */
            code: string;
            /**
             * Level
             * @enum {string}
             */
            level: "info" | "warning" | "blocker";
            /** Text */
            text: string;
            /** Advice */
            advice: string | null;
        };
        /**
         * PresetOut
         * @description A named selection for runs. If `benchmarks` is null, it selects all.
         */
        PresetOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description: string | null;
            /** Benchmarks */
            benchmarks: string[] | null;
            /** Params */
            params: {
                [key: string]: (number | string)[];
            };
            /** Launches */
            launches: number | null;
            /** Rounds */
            rounds: number | null;
        };
        /**
         * PrintedNumberOut
         * @description A number that an app printed, in base units; the true value is between `low` and `high`.
         */
        PrintedNumberOut: {
            /** Printed */
            printed: string;
            /** Value */
            value: number;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Unit */
            unit: string;
        };
        /**
         * Problem
         * @description An error (RFC 9457 problem details); `code` is the literal that programs compare.
         */
        Problem: {
            /** Type */
            type: string;
            /** Title */
            title: string;
            /** Status */
            status: number;
            /** Code */
            code: string;
            /** Detail */
            detail: string;
            /**
             * Fields
             * @default null
             */
            fields: {
                [key: string]: string;
            } | null;
        };
        /** ProgressOut */
        ProgressOut: {
            /** Launch */
            launch: number;
            /** Launches */
            launches: number;
            /** Done */
            done: number;
            /** Total */
            total: number;
        };
        /** ProjectIn */
        ProjectIn: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /**
             * Default Branch
             * @default main
             */
            default_branch: string;
            /**
             * Visibility
             * @default private
             * @enum {string}
             */
            visibility: "private" | "public";
        };
        /** ProjectOut */
        ProjectOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Default Branch */
            default_branch: string;
            /**
             * Visibility
             * @enum {string}
             */
            visibility: "private" | "public";
            /** Retention Days */
            retention_days: number | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * ProjectPatchIn
         * @description The settings to change. With null `retention_days`, samples are kept for ever.
         */
        ProjectPatchIn: {
            /** Title */
            title?: string | null;
            /** Default Branch */
            default_branch?: string | null;
            /** Visibility */
            visibility?: ("private" | "public") | null;
            /** Retention Days */
            retention_days?: number | null;
        };
        /**
         * PullRequestIn
         * @description The pull or merge request that a run judges, as its forge names it. Pages link to `url`.
         */
        PullRequestIn: {
            /** Number */
            number: number;
            /** Url */
            url?: string | null;
            /** Title */
            title?: string | null;
        };
        /** PullRequestOut */
        PullRequestOut: {
            /** Number */
            number: number;
            /** Url */
            url: string | null;
            /** Title */
            title: string | null;
        };
        /**
         * QuantityIn
         * @description A printed number in base units; the true one is between `low` and `high`.
         */
        QuantityIn: {
            /** Printed */
            printed: string;
            /** Value */
            value: number;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Unit */
            unit: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * RawIn
         * @description The output of one command. `status`: its exit status, null if it was killed; `at_ms`: when it started, by
         *     the agent's clock.
         */
        RawIn: {
            /** Command */
            command: string;
            /** Status */
            status?: number | null;
            /** At Ms */
            at_ms: number;
            /** Took Ms */
            took_ms: number;
            /** Text */
            text: string;
        };
        /** RawOut */
        RawOut: {
            /** Command */
            command: string;
            /** Status */
            status: number | null;
            /** At Ms */
            at_ms: number;
            /** Took Ms */
            took_ms: number;
            /** Text */
            text: string;
        };
        /**
         * ReadingsIn
         * @description The readings that decide whether the device may be used now; null: not reported.
         */
        ReadingsIn: {
            /** Battery C */
            battery_c?: number | null;
            /** Battery Percent */
            battery_percent?: number | null;
            /** Charging */
            charging?: boolean | null;
            /** Thermal Status */
            thermal_status?: number | null;
            /** Free Bytes */
            free_bytes?: number | null;
            /** Ms Ago */
            ms_ago?: number | null;
        };
        /** ReadingsOut */
        ReadingsOut: {
            /** Battery C */
            battery_c: number | null;
            /** Battery Percent */
            battery_percent: number | null;
            /** Charging */
            charging: boolean | null;
            /** Thermal Status */
            thermal_status: number | null;
            /** Free Bytes */
            free_bytes: number | null;
            /**
             * At
             * Format: date-time
             */
            at: string;
        };
        /**
         * ReasonIn
         * @description The reason for a person's decision, stored with who decided and when.
         */
        ReasonIn: {
            /** Reason */
            reason: string;
        };
        /**
         * ReasonOut
         * @description Why a run or job did not simply pass: one cause, and how many cases it concerns. Of failures it is the worst in
         *     words. `verdict` is null for a job that ended without one; what is `waived` failed and does not count.
         */
        ReasonOut: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "witness" | "regression" | "gate" | "arm" | "blocker" | "missing" | "job";
            /** Verdict */
            verdict: ("fail" | "inconclusive" | "waived") | null;
            /** Text */
            text: string;
            /** Count */
            count: number;
            /**
             * Cause
             * @default
             */
            cause: string;
            /** Cases */
            cases: string[];
            /** Next Step */
            next_step: string | null;
            /** Launches */
            launches: number | null;
        };
        /** RecordIn */
        RecordIn: {
            /** Line */
            line: number;
            /** Pattern */
            pattern: string;
            /**
             * Text
             * @default
             */
            text: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * RecordingIn
         * @description A `paceline.recording/1`, what `paceline run` or `paceline ab` measured without a server: its lines
         *     (`native/protocol/recording.schema.json`) as the Base64 of a gzip.
         */
        RecordingIn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            format: "paceline.recording/1";
            /** Gzip */
            gzip: string;
        };
        /**
         * RecoveryIn
         * @description A step of the recovery ladder that the agent took; `give_up` is the last. A step with an `id` is stored once,
         *     however often it is sent.
         */
        RecoveryIn: {
            /** Id */
            id?: string | null;
            /** Step */
            step: string;
            /** Ok */
            ok: boolean;
            /**
             * Text
             * @default
             */
            text: string;
            /**
             * Ms Ago
             * @default 0
             */
            ms_ago: number;
            /** Order Id */
            order_id?: string | null;
        };
        /**
         * RederivedOut
         * @description A finding computed again from stored samples with its stored parameters. `identical` says whether every
         *     number is the same to the last bit; null if it cannot be computed again, and `text` says why.
         */
        RederivedOut: {
            /** Identical */
            identical: boolean | null;
            /** Text */
            text: string;
            /** Numbers */
            numbers: {
                [key: string]: number | string | null;
            };
        };
        /** RenewOut */
        RenewOut: {
            /** Lease S */
            lease_s: number;
            /** Cancel */
            cancel: boolean;
        };
        /**
         * ReplayIn
         * @description A rule as it would be saved; `rule_id` names the rule it would replace.
         */
        ReplayIn: {
            rule: components["schemas"]["AlertRuleIn"];
            /** Rule Id */
            rule_id?: string | null;
            /**
             * Days
             * @default 30
             */
            days: number;
        };
        /**
         * ReplayOut
         * @description The alerts a rule would have raised.
         *
         *     `fired` counts alerts: findings of a target at the same commit in the same direction are one alert.
         *     `findings` has the newest first, at most 200 of `findings_total`.
         */
        ReplayOut: {
            /** Days */
            days: number;
            /** Fired */
            fired: number;
            /** Findings Total */
            findings_total: number;
            /** By Target */
            by_target: components["schemas"]["TargetCountOut"][];
            /** Words */
            words: string;
            /** Findings */
            findings: components["schemas"]["FiredOut"][];
        };
        /**
         * ReportedLineOut
         * @description A line of a device's log that matches a pattern of its suite: an app's own figures, never judged.
         *     `launch`: during which launch it was logged; `at`: the device's time, as printed; `note`: why there are no
         *     fields, or what is missing.
         */
        ReportedLineOut: {
            /** Seq */
            seq: number;
            /** Launch */
            launch: number | null;
            /** Side */
            side: ("base" | "head") | null;
            /** Pattern */
            pattern: string | null;
            /** At */
            at: string | null;
            /** Fields */
            fields: {
                [key: string]: number | string | components["schemas"]["PrintedNumberOut"];
            };
            /** Text */
            text: string;
            /** Note */
            note: string | null;
        };
        /**
         * ResultIn
         * @description A `paceline.result/1`, the document of every other tool. Its fields are those of the contract
         *     (`native/protocol/result.schema.json`), which checks them.
         */
        ResultIn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            format: "paceline.result/1";
            /** Tool */
            tool: string;
            /** Cases */
            cases: {
                [key: string]: unknown;
            }[];
        } & {
            [key: string]: unknown;
        };
        /**
         * RetireIn
         * @description The reason for retiring a benchmark or one of its arms.
         */
        RetireIn: {
            /** Reason */
            reason: string;
        };
        /**
         * RetiredOut
         * @description A retired benchmark or arm; `arm` null: the whole benchmark.
         */
        RetiredOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string | null;
            /** Reason */
            reason: string;
            /** Retired By */
            retired_by: string;
            /**
             * Retired At
             * Format: date-time
             */
            retired_at: string;
        };
        /** RoleIn */
        RoleIn: {
            /**
             * Role
             * @enum {string}
             */
            role: "viewer" | "triager" | "maintainer" | "admin";
        };
        /**
         * RotateIn
         * @description `keep_hours`: how long the current key also signs, beside the new one.
         */
        RotateIn: {
            /**
             * Keep Hours
             * @default 24
             */
            keep_hours: number;
        };
        /**
         * RowIn
         * @description Both averages of a batch size in a session.
         */
        RowIn: {
            /** Arm */
            arm: string;
            /** Batch */
            batch: number;
            average: components["schemas"]["QuantityIn"];
            fallback: components["schemas"]["QuantityIn"];
            /** Lines */
            lines: [
                number,
                number
            ];
        } & {
            [key: string]: unknown;
        };
        /**
         * RuleInForceOut
         * @description The rule that applies to this series. `limit` is the value beyond which it fires; null without a
         *     level.
         */
        RuleInForceOut: {
            /** Rule Id */
            rule_id: string | null;
            /** Version */
            version: number | null;
            /** Name */
            name: string;
            /** Text */
            text: string;
            /** Min Effect */
            min_effect: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "worse" | "both";
            /**
             * Mode
             * @enum {string}
             */
            mode: "active" | "shadow" | "off";
            /** Muted */
            muted: string | null;
            /** Limit */
            limit: number | null;
        };
        /** RuleOut */
        RuleOut: {
            /** Name */
            name: string;
            /** Version */
            version: number;
            /** Text */
            text: string;
        };
        /**
         * RunEstimateOut
         * @description How long a request would take now: building and measuring, without waiting for a target. `words` says
         *     what the estimate is based on.
         */
        RunEstimateOut: {
            /** Words */
            words: string;
            /** Targets */
            targets: components["schemas"]["TargetEstimateOut"][];
            /** Slowdowns */
            slowdowns: components["schemas"]["SlowdownOut"][];
        };
        /**
         * RunIn
         * @description A request to measure. Defaults: `commit` = head of the suite's announced branch, `targets` = every online
         *     target whose agent announced the suite, `benchmarks` = all, `params` = all declared values, `branch` = the
         *     announced one if its head is measured, else none; a run without a branch is not part of any history.
         *
         *     `base_commit` makes it an A/B run: each job builds both revisions, interleaves their launches, and judges
         *     `commit` against the base. The same revision on both sides is an A/A run, which measures the noise floor.
         *
         *     `head` judges a pull request in one run: is `head` slower than its base, do its gates hold, does each arm still
         *     beat its reference. The base is `base`, or the merge base of `head` and `base_branch`, which the agent finds.
         *     Such a run is part of no history. `head` replaces `commit`, and `base` replaces `base_commit`.
         *
         *     `concurrency_key`: of runs with one key only the newest counts, as of the pushes of one pull request. A new one
         *     cancels the older ones, which then name it in `superseded_by`.
         *
         *     `launches` defaults to 5 on a host and 10 on a device. `suppress`: names of configuration errors (emulator,
         *     debuggable, …) that do not void its jobs; verdicts mention them. Simulated targets are included by default
         *     only if `simulated` is suppressed.
         *
         *     `stop_when_sure`: a benchmark is not launched again once all of its required comparisons are certain. It is the
         *     default where two revisions are compared, and not where one is measured: that is a point of a history, whose noise
         *     must not depend on the verdict.
         */
        RunIn: {
            /** Suite */
            suite: string;
            /** Commit */
            commit?: string | null;
            /** Branch */
            branch?: string | null;
            /** Base Commit */
            base_commit?: string | null;
            /** Head */
            head?: string | null;
            /** Base */
            base?: string | null;
            /** Base Branch */
            base_branch?: string | null;
            pull_request?: components["schemas"]["PullRequestIn"] | null;
            /** Benchmarks */
            benchmarks?: string[] | null;
            /** Targets */
            targets?: string[] | null;
            /** Launches */
            launches?: number | null;
            /**
             * Rounds
             * @default 20
             */
            rounds: number;
            /**
             * Min Time Ns
             * @default 1000000
             */
            min_time_ns: number;
            /** Params */
            params?: {
                [key: string]: (number | string)[];
            };
            /** Knobs */
            knobs?: {
                [key: string]: number | string;
            };
            /** Suppress */
            suppress?: string[];
            /**
             * Trigger
             * @default manual
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci" | "a_a";
            /** Stop When Sure */
            stop_when_sure?: boolean | null;
            /** Concurrency Key */
            concurrency_key?: string | null;
        };
        /**
         * RunOut
         * @description A run. `outcome` is the word to show, `reason` says why in one line. One job judged `fail` makes the run fail;
         *     otherwise the most urgent job decides: failed, lost, expired, cancelled. `cause` and `cause_detail` are those
         *     of that job. `verdict` is null unless one job is `fail` or all were judged.
         */
        RunOut: {
            /** Id */
            id: string;
            /** Suite */
            suite: string;
            /** Repository */
            repository: string;
            /** Commit */
            commit: string;
            /** Base Commit */
            base_commit: string | null;
            /** Base Branch */
            base_branch: string | null;
            pull_request: components["schemas"]["PullRequestOut"] | null;
            /** Judges Head */
            judges_head: boolean;
            /** Stop When Sure */
            stop_when_sure: boolean;
            /** Concurrency Key */
            concurrency_key: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Branch */
            branch: string | null;
            /**
             * Trigger
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import" | "recorded";
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "active" | "done" | "failed" | "cancelled";
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive") | null;
            /** Reason */
            reason: string | null;
            /** Cause */
            cause: ("stream_invalid" | "workload_hung" | "workload_flooded" | "workload_crashed" | "workload_error" | "workload_no_terminal" | "check_failed" | "build_failed" | "suite_invalid" | "checkout_failed" | "agent_lost" | "agent_error" | "disk_full" | "target_refused" | "lease_lost" | "cancelled" | "device_lost" | "device_rebooted" | "device_refused" | "device_storage_full" | "device_unauthorized" | "placing_failed" | "analysis_failed") | null;
            /** Cause Detail */
            cause_detail: string | null;
            /** Demonstration */
            demonstration: boolean;
            /** Benchmarks */
            benchmarks: string[];
            /** Params */
            params: {
                [key: string]: (number | string)[];
            };
            /** Knobs */
            knobs: {
                [key: string]: number | string;
            };
            /** Suppress */
            suppress: string[];
            /** Launches */
            launches: number;
            /** Rounds */
            rounds: number;
            /** Min Time Ns */
            min_time_ns: number;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Finished At */
            finished_at: string | null;
            /** Jobs */
            jobs: components["schemas"]["JobOut"][];
        };
        /**
         * RunVerdictOut
         * @description One run of the commit. `url` is null if the server has no public address.
         */
        RunVerdictOut: {
            /** Run Id */
            run_id: string;
            /** Suite */
            suite: string;
            /** Branch */
            branch: string | null;
            /** Base Commit */
            base_commit: string | null;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Reason */
            reason: string;
            /** Demonstration */
            demonstration: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Url */
            url: string | null;
        };
        /**
         * SavedBenchmarkOut
         * @description A benchmark that was certain after `launches` of the planned ones.
         */
        SavedBenchmarkOut: {
            /** Benchmark */
            benchmark: string;
            /** Launches */
            launches: number;
            /** Planned */
            planned: number;
        };
        /**
         * SavedLaunchesOut
         * @description What a job did not measure, because it was certain. `launches` and `planned` are the sums over all its benchmarks.
         *     `saved_percent`: the share of the time of the planned samples; null where a benchmark measures no time.
         */
        SavedLaunchesOut: {
            /** Words */
            words: string;
            /** Launches */
            launches: number;
            /** Planned */
            planned: number;
            /** Saved Percent */
            saved_percent: number | null;
            /** Benchmarks */
            benchmarks: components["schemas"]["SavedBenchmarkOut"][];
        };
        /**
         * ScheduleIn
         * @description A run to repeat: `a_a` measures noise floors, `measure` the head of the suite's branch. Without a
         *     `target_id` it runs on every target that is online when it is due. Off unless `enabled`. `launches` and
         *     `suppress` as in a run.
         */
        ScheduleIn: {
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "a_a" | "measure";
            /** Suite */
            suite: string;
            /** Target Id */
            target_id?: string | null;
            /** Benchmarks */
            benchmarks?: string[] | null;
            /** Params */
            params?: {
                [key: string]: (number | string)[];
            };
            /** Launches */
            launches?: number | null;
            /**
             * Rounds
             * @default 20
             */
            rounds: number;
            /**
             * Min Time Ns
             * @default 1000000
             */
            min_time_ns: number;
            /** Suppress */
            suppress?: string[];
            /** Every S */
            every_s: number;
            /**
             * Enabled
             * @default false
             */
            enabled: boolean;
        };
        /**
         * ScheduleOut
         * @description A schedule. `next_at`: when it is due, if it is enabled. Missed runs are not repeated later. `missed_at`: when the
         *     newest run was due, if it did not happen, and `missed_because` why.
         */
        ScheduleOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "a_a" | "measure";
            /** Suite */
            suite: string;
            /** Target Id */
            target_id: string | null;
            /** Target Name */
            target_name: string | null;
            /** Benchmarks */
            benchmarks: string[] | null;
            /** Params */
            params: {
                [key: string]: (number | string)[];
            };
            /** Launches */
            launches: number | null;
            /** Rounds */
            rounds: number;
            /** Min Time Ns */
            min_time_ns: number;
            /** Suppress */
            suppress: string[];
            /** Every S */
            every_s: number;
            /** Enabled */
            enabled: boolean;
            /**
             * Next At
             * Format: date-time
             */
            next_at: string;
            /** Missed At */
            missed_at: string | null;
            /** Missed Because */
            missed_because: string | null;
            /** Last Run Id */
            last_run_id: string | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * SchedulePatchIn
         * @description Enable, disable, or change the interval.
         */
        SchedulePatchIn: {
            /** Enabled */
            enabled?: boolean | null;
            /** Every S */
            every_s?: number | null;
        };
        /**
         * SegmentOut
         * @description Points at one level, from `start_job_id` to `stop_job_id`, both included. `lower` and `upper` are three standard
         *     deviations of the scatter from the level. `environment` is an index into the series' environments.
         */
        SegmentOut: {
            /** Start Job Id */
            start_job_id: string;
            /** Stop Job Id */
            stop_job_id: string;
            /**
             * Start At
             * Format: date-time
             */
            start_at: string;
            /**
             * Stop At
             * Format: date-time
             */
            stop_at: string;
            /** Points */
            points: number;
            /** Level */
            level: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Environment */
            environment: number;
            /** Starts Because */
            starts_because: string;
        };
        /**
         * SegmentStartOut
         * @description A place where the history of a finding's series starts anew; no step is looked for across it. `change` says what
         *     changed.
         */
        SegmentStartOut: {
            /**
             * First At
             * Format: date-time
             */
            first_at: string;
            /** Change */
            change: string;
        };
        /**
         * SeriesOut
         * @description A series in a list. `value`, `at` and `commit` are those of its newest point, excluded or not; `changes` is the
         *     number of changes by state. `title` is the original text if its names are shortened from it. `imported`: no agent
         *     measured it, so that nothing here can measure it again.
         */
        SeriesOut: {
            /** Id */
            id: string;
            /** Title */
            title: string | null;
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Metric */
            metric: string;
            /**
             * Unit
             * @enum {string}
             */
            unit: "ns" | "bytes" | "ops" | "op/s" | "bytes/s" | "count";
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Imported */
            imported: boolean;
            /** Branch */
            branch: string;
            /** Points */
            points: number;
            /** Value */
            value: number;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Commit */
            commit: string;
            /** Changes */
            changes: {
                [key: string]: number;
            };
        };
        /**
         * SeriesPageOut
         * @description A series without its points. `state` is its current state in a sentence; `level` is that of the newest segment,
         *     null before the first evaluation (`evaluated_at` null). `changes` are newest first.
         */
        SeriesPageOut: {
            series: components["schemas"]["SeriesOut"];
            /** State */
            state: string;
            /** Level */
            level: number | null;
            /** Baseline Job Id */
            baseline_job_id: string | null;
            /** Evaluated At */
            evaluated_at: string | null;
            /** Environments */
            environments: components["schemas"]["EnvironmentOut"][];
            /** Segments */
            segments: components["schemas"]["SegmentOut"][];
            /** Changes */
            changes: components["schemas"]["ChangeOut"][];
            noise: components["schemas"]["NoiseBandOut"] | null;
            rule: components["schemas"]["RuleInForceOut"] | null;
            /** Annotations */
            annotations: components["schemas"]["AnnotationOut"][];
        };
        /** SessionIn */
        SessionIn: {
            /** Line */
            line?: number | null;
            /** Device */
            device?: string | null;
            /** Api */
            api?: number | null;
            heading?: components["schemas"]["HeadingIn"] | null;
            /**
             * Rows
             * @default []
             */
            rows: components["schemas"]["RowIn"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * SessionOut
         * @description Who signed in, and what they may do in the project of the request.
         */
        SessionOut: {
            account: components["schemas"]["AccountOut"];
            /** Has Password */
            has_password: boolean;
            /** Project */
            project: string | null;
            /** Role */
            role: ("viewer" | "triager" | "maintainer" | "admin") | null;
            /** Permissions */
            permissions: ("project.read" | "members.read" | "audit.read" | "alerts.triage" | "annotations.write" | "benchmarks.write" | "rules.write" | "runs.create" | "targets.use" | "imports.write" | "schedules.write" | "channels.write" | "members.write" | "tokens.write" | "project.write" | "installation.admin" | "agent")[];
            /** Projects */
            projects: components["schemas"]["MembershipOut"][];
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * ShippedRuleOut
         * @description A rule that is not stored: of a suite's manifest, or built in (`suite` is null). It watches `metric`, by default
         *     the primary one, of `arms`.
         */
        ShippedRuleOut: {
            /** Suite */
            suite: string | null;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
            /** Text */
            text: string;
            /** Benchmark */
            benchmark: string | null;
            /** Arms */
            arms: string[];
            /** Metric */
            metric: string | null;
        };
        /**
         * SilenceLimitIn
         * @description After how long without a heartbeat the agent's projects are alerted; null: never.
         */
        SilenceLimitIn: {
            /** Limit S */
            limit_s: number | null;
        };
        /**
         * SinceOut
         * @description What is new since an instant, each list the newest first; those in `more` go on. `runs` failed, were lost or
         *     expired, by the time they were requested.
         */
        SinceOut: {
            /**
             * Since
             * Format: date-time
             */
            since: string;
            /** Words */
            words: string;
            /** Changes */
            changes: components["schemas"]["ChangeSinceOut"][];
            /** Flips */
            flips: components["schemas"]["FlippedVerdictOut"][];
            /** Alerts */
            alerts: components["schemas"]["AlertOut"][];
            /** Runs */
            runs: components["schemas"]["RunOut"][];
            /** More */
            more: ("changes" | "flips" | "alerts" | "runs")[];
        };
        /**
         * SlowdownOut
         * @description The percentage from which a knob makes its arm slower than the reference on a target, by the newest
         *     measurements: `percent` at one point at least, `everywhere_percent` at all points; null if unknown.
         */
        SlowdownOut: {
            /** Knob */
            knob: string;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Percent */
            percent: number | null;
            /** Everywhere Percent */
            everywhere_percent: number | null;
            /** Words */
            words: string;
        };
        /** StandingsTargetOut */
        StandingsTargetOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Simulated */
            simulated: boolean;
        };
        /**
         * SuiteAnnounceIn
         * @description An agent's announcement of a suite that it can run, from the head of an allowed repository.
         *
         *     `repository` is the agent's name for the repository, `location` its URL or absolute path. Older agents send no
         *     `location`, which is accepted only with a grant of every repository. `suite` and `digest` identify the manifest; an
         *     agent sends the manifest itself, as JSON, when `manifests_wanted` of a reply has the digest.
         */
        SuiteAnnounceIn: {
            /** Repository */
            repository: string;
            /** Location */
            location?: string | null;
            /** Manifest Path */
            manifest_path: string;
            /** Suite */
            suite?: string | null;
            /** Digest */
            digest?: string | null;
            /** Manifest */
            manifest?: {
                [key: string]: unknown;
            } | null;
            /** Commit */
            commit: string;
            /** Branch */
            branch?: string | null;
        };
        /**
         * SuiteOut
         * @description A suite. Where `imported`, no agent announced it: its benchmarks are those of its newest imports, and it has neither
         *     a repository nor a manifest and cannot be run.
         */
        SuiteOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description: string | null;
            /** Imported */
            imported: boolean;
            /** Repository */
            repository: string | null;
            /** Manifest Path */
            manifest_path: string | null;
            /** Manifest Hash */
            manifest_hash: string | null;
            /** Benchmarks */
            benchmarks: components["schemas"]["BenchmarkOut"][];
            /** Knobs */
            knobs: components["schemas"]["KnobOut"][];
            /** Presets */
            presets: components["schemas"]["PresetOut"][];
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Last Run At */
            last_run_at: string | null;
        };
        /**
         * SuiteRefusedOut
         * @description An announced suite that was refused; `reason` says why and what to do. The agent's other suites are accepted.
         */
        SuiteRefusedOut: {
            /** Suite */
            suite: string;
            /** Reason */
            reason: string;
        };
        /**
         * SuiteStandingsOut
         * @description The number of arms with each standing, by target. No rule of the suite watches the benchmarks in `unwatched`, so
         *     their arms are not counted.
         */
        SuiteStandingsOut: {
            /** Suite */
            suite: string;
            /** Title */
            title: string;
            /** Counts */
            counts: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** Unwatched */
            unwatched: components["schemas"]["UnwatchedBenchmarkOut"][];
        };
        /**
         * TakesJobsOut
         * @description Says whether a job may be leased for a target now, in `words` for people.
         */
        TakesJobsOut: {
            /** Ok */
            ok: boolean;
            /** Words */
            words: string;
        };
        /**
         * TargetAnnouncementIn
         * @description A target as its agent reports it. `serial` identifies it for ever; `factors` make up the fingerprint.
         */
        TargetAnnouncementIn: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Serial */
            serial: string;
            /** Name */
            name: string;
            /** Factors */
            factors: {
                [key: string]: string | number | boolean | null;
            };
            /** Fingerprint */
            fingerprint: string;
            /** Preflight */
            preflight?: components["schemas"]["PreflightFindingIn"][];
            /** Refuses */
            refuses?: string | null;
            /**
             * Simulated
             * @default false
             */
            simulated: boolean;
            connection?: components["schemas"]["ConnectionIn"] | null;
            /** Boot Id */
            boot_id?: string | null;
            gates?: components["schemas"]["ReadingsIn"] | null;
            check?: components["schemas"]["CheckIn"] | null;
            /** Recovery */
            recovery?: components["schemas"]["RecoveryIn"][];
            /** Orders Done */
            orders_done?: string[];
            /** Orders Refused */
            orders_refused?: components["schemas"]["OrderRefusedIn"][];
            /** Configuration */
            configuration?: string[] | null;
        };
        /** TargetChoiceOut */
        TargetChoiceOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * TargetConditionsOut
         * @description The conditions of a target. `note` says what the tracks can show. `gaps` are those of all tracks, in order;
         *     do not draw a line through one.
         */
        TargetConditionsOut: {
            /** Tracks */
            tracks: components["schemas"]["TrackOut"][];
            /** Gaps */
            gaps: components["schemas"]["GapOut"][];
            /** Jobs */
            jobs: components["schemas"]["JobConditionsOut"][];
            /** Note */
            note: string;
        };
        /** TargetCountOut */
        TargetCountOut: {
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Fired */
            fired: number;
        };
        /**
         * TargetEstimateOut
         * @description How long a job would take. `seconds` is null without past jobs. `based_on` counts the past jobs used; unless
         *     they had the same selection (`same_choice`), the figure is scaled by the amount of work.
         */
        TargetEstimateOut: {
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Cases */
            cases: number;
            /** Seconds */
            seconds: number | null;
            /** Least S */
            least_s: number;
            /** Based On */
            based_on: number;
            /** Same Choice */
            same_choice: boolean;
            /** Words */
            words: string;
        };
        /**
         * TargetEventOut
         * @description An event of a target; `evidence` is what led to it, `words` the sentence.
         */
        TargetEventOut: {
            /** Id */
            id: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /**
             * Axis
             * @enum {string}
             */
            axis: "connection" | "health" | "maintenance" | "order" | "recovery";
            /** Event */
            event: string;
            /** From State */
            from_state: string | null;
            /** To State */
            to_state: string | null;
            /** Reason */
            reason: string | null;
            /** Evidence */
            evidence: {
                [key: string]: unknown;
            };
            /** Actor */
            actor: string;
            /** Words */
            words: string;
        };
        /**
         * TargetNoiseOut
         * @description The noise in a target's ordinary jobs. `scatter`: half of a point's 99 % interval as a fraction of its value; the
         *     average over a job's points, then the median over jobs. `waiting_percent`: the time in which the workload waited for
         *     a CPU, the median over jobs; null if the target does not report it. `excluded_jobs`: those of its `jobs`
         *     that count in no series, because the job was void or disturbed or a check failed.
         */
        TargetNoiseOut: {
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Simulated */
            simulated: boolean;
            /** Jobs */
            jobs: number;
            /** Excluded Jobs */
            excluded_jobs: number;
            /** Excluded Share */
            excluded_share: number;
            /** Scatter */
            scatter: number;
            /** Waiting Percent */
            waiting_percent: number | null;
        };
        /**
         * TargetOut
         * @description A target. `state` says whether it is reachable and busy; `hold`, independently, why it must not be used, with
         *     maintenance before quarantine before cooling. A host has no connection, readings (`gates`) or checks, and its only
         *     hold is maintenance.
         */
        TargetOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Name */
            name: string;
            /** Serial */
            serial: string;
            /** Agent Id */
            agent_id: string;
            /** Agent Name */
            agent_name: string;
            /**
             * State
             * @enum {string}
             */
            state: "online" | "busy" | "offline";
            /** Hold */
            hold: ("maintenance" | "quarantined" | "cooling") | null;
            /** Hold Reason */
            hold_reason: string | null;
            /** Refuses */
            refuses: string | null;
            /** Factors */
            factors: {
                [key: string]: string | number | boolean | null;
            };
            /** Fingerprint */
            fingerprint: string;
            /** Preflight */
            preflight: components["schemas"]["PreflightFindingOut"][];
            /** Simulated */
            simulated: boolean;
            /** Imported */
            imported: boolean;
            /** Last Seen At */
            last_seen_at: string | null;
            /** Active Job Id */
            active_job_id: string | null;
            connection: components["schemas"]["ConnectionOut"] | null;
            /** Boot Id */
            boot_id: string | null;
            health: components["schemas"]["HealthOut"];
            maintenance: components["schemas"]["MaintenanceOut"] | null;
            takes_jobs: components["schemas"]["TakesJobsOut"];
            gates: components["schemas"]["ReadingsOut"] | null;
            /** Configuration */
            configuration: components["schemas"]["ConfigurationErrorOut"][];
            check: components["schemas"]["DeviceCheckOut"] | null;
            /** Orders */
            orders: components["schemas"]["OrderOut"][];
            /** Refused Orders */
            refused_orders: components["schemas"]["OrderOut"][];
            /** Reboots Left */
            reboots_left: number;
            /** Actions */
            actions: ("recheck" | "reboot" | "quarantine" | "release" | "maintenance")[];
        };
        /** TargetRefOut */
        TargetRefOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * TargetRefusedOut
         * @description A target of this heartbeat that was refused, and why.
         */
        TargetRefusedOut: {
            /** Kind */
            kind: string;
            /** Serial */
            serial: string;
            /** Why */
            why: string;
        };
        /**
         * TargetReplyOut
         * @description The reply about one announced target. `check_due`: run the health check as soon as no job holds the
         *     device.
         */
        TargetReplyOut: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "host" | "device";
            /** Serial */
            serial: string;
            /** Target Id */
            target_id: string;
            /**
             * Health
             * @enum {string}
             */
            health: "unknown" | "checking" | "good" | "recovering" | "suspect" | "quarantined";
            /** Driven By */
            driven_by: string | null;
            /** Check Due */
            check_due: boolean;
            /** Orders */
            orders: components["schemas"]["AgentOrderOut"][];
            /** Checks Heard */
            checks_heard: string[];
            /** Recovery Heard */
            recovery_heard: string[];
        };
        /**
         * TargetsNoiseOut
         * @description Targets that measured in the last `days`, the noisiest first; simulated ones last.
         */
        TargetsNoiseOut: {
            /** Days */
            days: number;
            /** Targets */
            targets: components["schemas"]["TargetNoiseOut"][];
        };
        /**
         * TokenCreatedOut
         * @description A new token with its secret, which is returned only here.
         */
        TokenCreatedOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** Permissions */
            permissions: ("project.read" | "members.read" | "audit.read" | "alerts.triage" | "annotations.write" | "benchmarks.write" | "rules.write" | "runs.create" | "targets.use" | "imports.write" | "schedules.write" | "channels.write" | "members.write" | "tokens.write" | "project.write" | "installation.admin" | "agent")[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Last Used At */
            last_used_at: string | null;
            /** Expires At */
            expires_at: string | null;
            /** Revoked At */
            revoked_at: string | null;
            /** Made By */
            made_by: string | null;
            /** Secret */
            secret: string;
        };
        /** TokenIn */
        TokenIn: {
            /** Name */
            name: string;
            /** Permissions */
            permissions: ("project.read" | "members.read" | "audit.read" | "alerts.triage" | "annotations.write" | "benchmarks.write" | "rules.write" | "runs.create" | "targets.use" | "imports.write" | "schedules.write" | "channels.write" | "members.write" | "tokens.write" | "project.write" | "installation.admin" | "agent")[];
            /** Expires In Days */
            expires_in_days?: number | null;
        };
        /** TokenOut */
        TokenOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** Permissions */
            permissions: ("project.read" | "members.read" | "audit.read" | "alerts.triage" | "annotations.write" | "benchmarks.write" | "rules.write" | "runs.create" | "targets.use" | "imports.write" | "schedules.write" | "channels.write" | "members.write" | "tokens.write" | "project.write" | "installation.admin" | "agent")[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Last Used At */
            last_used_at: string | null;
            /** Expires At */
            expires_at: string | null;
            /** Revoked At */
            revoked_at: string | null;
            /** Made By */
            made_by: string | null;
        };
        /**
         * TrackOut
         * @description A reading of a target over time: battery_c (°C), battery_percent, thermal_status (0 none … 6), free_bytes,
         *     charging (0 or 1). A reading is stored when it changes and every ten minutes.
         */
        TrackOut: {
            /**
             * Key
             * @enum {string}
             */
            key: "battery_c" | "battery_percent" | "thermal_status" | "free_bytes" | "charging";
            /** Unit */
            unit: string;
            /** Points */
            points: components["schemas"]["TrackPointOut"][];
        };
        /** TrackPointOut */
        TrackPointOut: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Value */
            value: number;
        };
        /** TrackValueOut */
        TrackValueOut: {
            /** Median */
            median: number;
            /** Max */
            max: number;
        };
        /**
         * TriageBatchOut
         * @description A bulk decision, which can be undone until `undo_until` if none of its alerts has changed.
         */
        TriageBatchOut: {
            /** Id */
            id: string;
            /** Actor */
            actor: string;
            /** Action */
            action: string;
            /** Note */
            note: string | null;
            /** Alerts */
            alerts: number;
            /** Alert Ids */
            alert_ids: string[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Undo Until
             * Format: date-time
             */
            undo_until: string;
            /** Undone At */
            undone_at: string | null;
            /** Undone By */
            undone_by: string | null;
        };
        /**
         * UnaffectedOut
         * @description The benchmarks of an A/B job that were not measured again. `words`: which and why. `digests`: what each has in
         *     common at base and head, by its name. `gates`: how many gates of theirs are not judged.
         */
        UnaffectedOut: {
            /** Words */
            words: string;
            /** Digests */
            digests: {
                [key: string]: string;
            };
            /** Gates */
            gates: number;
        };
        /**
         * UnavailableOut
         * @description An arm that this target cannot run; `params` is empty if it cannot run with any.
         */
        UnavailableOut: {
            /** Benchmark */
            benchmark: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Arm */
            arm: string;
            /** Reason */
            reason: string;
        };
        /**
         * UndecidedOut
         * @description The benchmarks of a job under way that more launches may decide.
         */
        UndecidedOut: {
            /** Benchmarks */
            benchmarks: string[];
        };
        /**
         * UnruledOut
         * @description A measurement about which only the built-in default decides.
         */
        UnruledOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Target Id */
            target_id: string;
            /** Target Name */
            target_name: string;
            /** Series */
            series: number;
        };
        /** UnwatchedBenchmarkOut */
        UnwatchedBenchmarkOut: {
            /** Benchmark */
            benchmark: string;
            /** Title */
            title: string;
        };
        /**
         * VerdictsOut
         * @description The outcome of a run with everything on which it is based. `run_id` and `url` are null for a directory that was
         *     judged offline; `url` is also null if the server has no public address.
         */
        VerdictsOut: {
            /**
             * Schema
             * @default paceline.verdicts/1
             * @constant
             */
            schema: "paceline.verdicts/1";
            /** Run Id */
            run_id: string | null;
            /** Url */
            url: string | null;
            /** Suite */
            suite: string;
            /** Commit */
            commit: string;
            /** Base Commit */
            base_commit: string | null;
            /** Base Branch */
            base_branch: string | null;
            pull_request: components["schemas"]["PullRequestOut"] | null;
            /** Branch */
            branch: string | null;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "queued" | "running" | "pass" | "fail" | "inconclusive" | "failed" | "lost" | "expired" | "cancelled";
            /** Reason */
            reason: string;
            /** Reasons */
            reasons: components["schemas"]["ReasonOut"][];
            /** Demonstration */
            demonstration: boolean;
            /** Completeness */
            completeness: string | null;
            /** Missing */
            missing: components["schemas"]["MissingGroupOut"][];
            /** Jobs */
            jobs: components["schemas"]["JobVerdictsOut"][];
        };
        /**
         * VersionOut
         * @description The release of this server.
         */
        VersionOut: {
            /** Version */
            version: string;
        };
        /**
         * WaitingOut
         * @description What waits now: open alerts that nobody has taken, runs that no agent has taken, quarantined targets. Alerts in
         *     shadow and simulated targets do not count.
         */
        WaitingOut: {
            /** Alerts Open */
            alerts_open: number;
            /** Runs Queued */
            runs_queued: number;
            /** Targets Quarantined */
            targets_quarantined: number;
        };
        /**
         * WaitingReasonOut
         * @description Why a job measures nothing now: what it waits for, or which step of its preparation it is at. `advice`: what would
         *     change that, where anything would. `since`: when that began, if it is known; of a preparation, when the agent took the
         *     job. `run_id`: the run of the job that has its target.
         */
        WaitingReasonOut: {
            /** Text */
            text: string;
            /** Advice */
            advice: string | null;
            /** Since */
            since: string | null;
            /** Run Id */
            run_id: string | null;
        };
        /**
         * WaivedOut
         * @description Why a failure does not count: by a waiver (who, why, until when), or because people know it by an alert.
         */
        WaivedOut: {
            /** Waiver Id */
            waiver_id: string | null;
            /** Alert Id */
            alert_id: string | null;
            /** By */
            by: string | null;
            /** Reason */
            reason: string | null;
            /** Until */
            until: string | null;
            /** Words */
            words: string;
        };
        /**
         * WaiverIn
         * @description Lets what fails pass visibly, until `expires_at`. `benchmark`, `arm` and `metric` are patterns (`ledger_*`); of
         *     `params`, those named must be equal. Without `commits` (beginnings of names) and `pull_request` it holds for every
         *     run of the suite.
         *
         *     A comparison that becomes worse than `worst_ratio` fails again, and so does a gate whose figure becomes worse than
         *     `worst_actual`. Both default to what `run_id`, the run that is to pass now, measured.
         */
        WaiverIn: {
            /** Suite */
            suite: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "regression" | "gate" | "arm";
            /**
             * Benchmark
             * @default *
             */
            benchmark: string;
            /**
             * Arm
             * @default *
             */
            arm: string;
            /**
             * Metric
             * @default *
             */
            metric: string;
            /** Params */
            params?: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id?: string | null;
            /** Commits */
            commits?: string[] | null;
            /** Pull Request */
            pull_request?: number | null;
            /** Worst Ratio */
            worst_ratio?: number | null;
            /** Worst Actual */
            worst_actual?: number | null;
            /** Reason */
            reason: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Run Id */
            run_id?: string | null;
        };
        /**
         * WaiverOut
         * @description A waiver as it stands. `words` say what it lets pass, for whom and until when.
         */
        WaiverOut: {
            /** Id */
            id: string;
            /** Suite */
            suite: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "regression" | "gate" | "arm";
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
            /** Metric */
            metric: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Target Id */
            target_id: string | null;
            /** Commits */
            commits: string[] | null;
            /** Pull Request */
            pull_request: number | null;
            /** Worst Ratio */
            worst_ratio: number | null;
            /** Worst Actual */
            worst_actual: number | null;
            /** Reason */
            reason: string;
            /**
             * State
             * @enum {string}
             */
            state: "active" | "expired" | "revoked";
            /** Words */
            words: string;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Revoked By */
            revoked_by: string | null;
            /** Revoked At */
            revoked_at: string | null;
        };
        /**
         * WarmupOut
         * @description The warm-up `rounds` after which the arm is within the margin of its warm level; null if that was not
         *     reached or not measured. `calls_per_round`: calls in a round of the benchmark.
         */
        WarmupOut: {
            /** Rounds */
            rounds: number | null;
            /** Lower */
            lower: number | null;
            /** Upper */
            upper: number | null;
            /** Confidence */
            confidence: number;
            /** Margin Percent */
            margin_percent: number;
            /** Calls Per Round */
            calls_per_round: number | null;
            /** Reason */
            reason: string;
            /** Words */
            words: string;
            /** Penalties */
            penalties: components["schemas"]["PenaltyOut"][];
        };
        /**
         * WindowOut
         * @description The data that a finding is based on. `first_at` and `last_at` are set for findings in a series' history.
         */
        WindowOut: {
            /** Text */
            text: string;
            /** Points */
            points: number | null;
            /** Launches */
            launches: number | null;
            /** Blocks */
            blocks: number | null;
            /** First At */
            first_at: string | null;
            /** Last At */
            last_at: string | null;
        };
        /**
         * WitnessOut
         * @description Whether an arm that declares a witness ran its own code, and no fallback; `params` is empty if it is the same
         *     with all of them.
         */
        WitnessOut: {
            /** Benchmark */
            benchmark: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /** Arm */
            arm: string;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail" | "inconclusive";
            /** Words */
            words: string;
        };
        /**
         * WorkOut
         * @description The work of an agent: launches `first_launch … first_launch + launches - 1` of one batch; with `base_commit` or
         *     `base_branch` each of them once per side. With `base_branch` and no `base_commit`, the agent finds
         *     the merge base and reports it. With `judges_head`, the head also runs what only the head has. With
         *     `skips_unaffected`, a benchmark with one digest on both sides is reported and not measured again.
         */
        WorkOut: {
            /** Suite */
            suite: string;
            /** Repository */
            repository: string;
            /** Manifest Path */
            manifest_path: string;
            /** Commit */
            commit: string;
            /** Base Commit */
            base_commit: string | null;
            /** Base Branch */
            base_branch: string | null;
            /** Judges Head */
            judges_head: boolean;
            /** Skips Unaffected */
            skips_unaffected: boolean;
            /** Benchmarks */
            benchmarks: string[];
            /** Params */
            params: {
                [key: string]: (number | string)[];
            };
            /** Knobs */
            knobs: {
                [key: string]: number | string;
            };
            /** First Launch */
            first_launch: number;
            /** Launches */
            launches: number;
            /** Rounds */
            rounds: number;
            /** Min Time Ns */
            min_time_ns: number;
            /** Seed */
            seed: number;
            /** Stop When Sure */
            stop_when_sure: boolean;
            /** Launch Timeout S */
            launch_timeout_s: number;
            /** Suppress */
            suppress: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    accept_invitation: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationLinkIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_password: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChangeIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BrowserSessionOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_other_sessions: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_session: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_accounts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AccountOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    disable_account: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    enable_account: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_installation_admin: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstallationAdminIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstallationAccountOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_reset_link: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeLinkOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_out_account: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AgentOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    enrol: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_enrolment_code: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EnrolmentCodeIn"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolmentCodeOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renew_credential: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    heartbeat: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    lease: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeaseOut"];
                };
            };
            /** @description Nothing to do. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_alerts: {
        parameters: {
            query?: {
                state?: ("suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished") | null;
                suite?: string | null;
                target?: string | null;
                assignee?: string | null;
                kind?: ("arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped") | null;
                cause?: ("code" | "environment" | "target") | null;
                overdue?: boolean | null;
                shadow?: boolean;
                rule?: string | null;
                text?: string | null;
                from?: string | null;
                to?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_alert_feed: {
        parameters: {
            query?: {
                suite?: string | null;
                target?: string | null;
                state?: ("suspected" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra" | "vanished") | null;
                kind?: ("arm_slower" | "history" | "environment" | "policy" | "gate" | "missing" | "schedule" | "schedule_missed" | "quarantine" | "agent_silent" | "import_stopped") | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "application/atom+xml": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_triage_batches: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TriageBatchOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    triage_in_bulk: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriageBatchOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undo_bulk_triage: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriageBatchOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_alert: {
        parameters: {
            query?: {
                expand?: "window" | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    act_on_alert: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertActionIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    assign_alert: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssigneeIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    bisect_alert: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BisectIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_alert_due: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DueIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    explain_alert: {
        parameters: {
            query?: {
                rederive?: boolean;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplanationOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    link_alert_issue: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    mute_alert: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MuteIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_alert_note: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertNoteIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_annotation: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotationIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotationOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_annotation: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                annotation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_arms: {
        parameters: {
            query: {
                suite: string;
                benchmark: string;
                metric?: string | null;
                target?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArmsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_arm_standings: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArmStandingsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_audit: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                object_kind?: ("alert" | "rule" | "schedule" | "suite" | "benchmark" | "token" | "account" | "project" | "member" | "agent" | "enrolment_code" | "triage_batch" | "target" | "import" | "waiver" | "channel") | null;
                object_id?: string | null;
                actor?: string | null;
                actor_kind?: ("account" | "token" | "agent" | "system" | "anonymous") | null;
                from?: string | null;
                to?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AuditEntryOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_badge: {
        parameters: {
            query: {
                suite: string;
                kind?: "verdict" | "ratio" | "alerts";
                branch?: string | null;
                target?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BadgeOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_badge_picture: {
        parameters: {
            query: {
                suite: string;
                kind?: "verdict" | "ratio" | "alerts";
                branch?: string | null;
                target?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "image/svg+xml": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_channels: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ChannelOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCreatedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelPatchIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DeliveryOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    mute_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelMuteIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_channel_key: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCreatedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unmute_channel: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                channel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_comparison: {
        parameters: {
            query: {
                base: string;
                head: string;
                suite?: string | null;
                target?: string | null;
                benchmark?: string | null;
                metric?: string | null;
                hide_uncertain?: boolean;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompareOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_delivery: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_imports: {
        parameters: {
            query?: {
                format?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ImportOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    store_import: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDetailOut"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    store_file: {
        parameters: {
            query: {
                file: string;
                on?: string;
                commit?: string | null;
                branch?: string | null;
                at?: string | null;
                suite?: string | null;
                judge?: boolean;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The file as its tool wrote it, at most 8 MiB. */
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDetailOut"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_import: {
        parameters: {
            query: {
                file: string;
                on?: string;
                commit?: string | null;
                branch?: string | null;
                at?: string | null;
                suite?: string | null;
                judge?: boolean;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file as its tool wrote it, at most 8 MiB. */
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportPreviewOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_import: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_import: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_original: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_incidents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_IncidentOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_installation_accounts: {
        parameters: {
            query?: {
                q?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InstallationAccountOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_enrolled_agents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_EnrolledAgentOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_enrolled_agent: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolledAgentOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_agent_grant: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolledAgentOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_agent: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolledAgentOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_agent: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolledAgentOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_silence_limit: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SilenceLimitIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolledAgentOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_installation_audit: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                object_kind?: ("alert" | "rule" | "schedule" | "suite" | "benchmark" | "token" | "account" | "project" | "member" | "agent" | "enrolment_code" | "triage_batch" | "target" | "import" | "waiver" | "channel") | null;
                object_id?: string | null;
                actor?: string | null;
                actor_kind?: ("account" | "token" | "agent" | "system" | "anonymous") | null;
                from?: string | null;
                to?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AuditEntryOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_claims: {
        parameters: {
            query?: {
                state?: ("open" | "moved" | "dismissed") | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ClaimOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    dismiss_claim: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                claim_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    move_claimed_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                claim_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_invitations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InvitationOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_invitation: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationCreatedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_invitation: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                invitation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_job: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    finish: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    outcome: "cancelled" | "done" | "failed";
                    last_seq: number;
                    cause?: ("agent_error" | "agent_lost" | "analysis_failed" | "build_failed" | "cancelled" | "check_failed" | "checkout_failed" | "device_lost" | "device_rebooted" | "device_refused" | "device_storage_full" | "device_unauthorized" | "disk_full" | "lease_lost" | "placing_failed" | "stream_invalid" | "suite_invalid" | "target_refused" | "workload_crashed" | "workload_error" | "workload_flooded" | "workload_hung" | "workload_no_terminal") | null;
                    detail?: string | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    store_items: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "content-encoding"?: string;
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        /** @description At most 8 MiB as sent and 64 MiB of JSON; optionally `Content-Encoding: gzip`. */
        requestBody: {
            content: {
                "application/json": {
                    items: ({
                        /** @enum {unknown} */
                        kind: "samples";
                        launch: number;
                        benchmark: string;
                        arm: string;
                        params: {
                            [key: string]: number | string;
                        };
                        metric: string;
                        /** @enum {unknown} */
                        unit: "bytes" | "bytes/s" | "count" | "ns" | "op/s" | "ops";
                        /** @enum {unknown} */
                        direction: "higher" | "lower";
                        /** @enum {unknown} */
                        phase: "measure" | "warmup";
                        rounds: number[];
                        positions: number[];
                        iterations: number[];
                        t_ns: number[];
                        values: number[];
                        /** @default {} */
                        work?: {
                            [key: string]: number[];
                        };
                        side?: ("base" | "head") | null;
                        seq: number;
                    } | {
                        /** @enum {unknown} */
                        kind: "event";
                        launch: number;
                        event: Record<string, never>;
                        side?: ("base" | "head") | null;
                        seq: number;
                    } | {
                        /** @enum {unknown} */
                        kind: "conditions";
                        /** @enum {unknown} */
                        phase: "after" | "before" | "during";
                        at_ms: number;
                        values: Record<string, never>;
                        /** @default [] */
                        raw?: {
                            command: string;
                            at_ms: number;
                            took_ms: number;
                            text: string;
                            status?: number | null;
                        }[];
                        seq: number;
                    } | {
                        /** @enum {unknown} */
                        kind: "log";
                        /** @enum {unknown} */
                        stream: "agent" | "build" | "workload";
                        lines: string[];
                        seq: number;
                    } | {
                        /** @enum {unknown} */
                        kind: "reported";
                        launch: number | null;
                        side: ("base" | "head") | null;
                        pattern: string | null;
                        at: string | null;
                        fields: {
                            [key: string]: number | string | {
                                printed: string;
                                value: number;
                                low: number;
                                high: number;
                                unit: string;
                            };
                        };
                        text: string;
                        note: string | null;
                        seq: number;
                    })[];
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    report_manifest: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    manifest: Record<string, never>;
                    base_manifest?: Record<string, never> | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renew: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenewOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    report_state: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    state: "leased" | "measuring" | "preparing" | "uploading";
                    detail?: string | null;
                    artifact_hash?: string | null;
                    base_artifact_hash?: string | null;
                    base_commit?: string | null;
                    commits?: {
                        /** @description 7 to 64 hexadecimal digits */
                        commit: string;
                        author: string;
                        /**
                         * Format: date-time
                         * @description an instant as in 2026-11-23T14:00:00Z
                         */
                        at: string;
                        subject: string;
                        /** @default 0 */
                        left_out?: number;
                    }[] | null;
                    /** @default {} */
                    build?: {
                        [key: string]: string;
                    };
                    fingerprint?: string | null;
                    /** @default {} */
                    unaffected?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_undecided: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header: {
                "Lease-Token": string;
            };
            path: {
                job_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndecidedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_conditions: {
        parameters: {
            query?: {
                after?: number;
                attempt?: number | null;
                expand?: "raw" | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ConditionsOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_distribution: {
        parameters: {
            query: {
                benchmark: string;
                metric: string;
                /** @description A JSON object of params. */
                params?: string;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DistributionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_live_series: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_LiveSeriesOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_log: {
        parameters: {
            query?: {
                after?: number;
                attempt?: number | null;
                tail?: boolean;
                limit?: number;
                cursor?: string | null;
                format?: "json" | "text";
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With `format=text`, the attempt's whole log as a streamed file; `after`, `tail`, `limit` and `cursor` apply to pages only. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_LogLineOut_"];
                    "text/plain": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_report: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobReportOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_reported: {
        parameters: {
            query?: {
                after?: number;
                attempt?: number | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ReportedLineOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_matrix: {
        parameters: {
            query: {
                suite: string;
                branch?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatrixOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_members: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MemberOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_member: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_role: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_member: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_noise_floors: {
        parameters: {
            query?: {
                suite?: string | null;
                benchmark?: string | null;
                arm?: string | null;
                metric?: string | null;
                target?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_NoiseFloorOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_overview: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OverviewOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plot: {
        parameters: {
            query?: {
                key?: string;
            };
            header?: never;
            path: {
                notification_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_policies: {
        parameters: {
            query?: {
                suite?: string | null;
                policy?: string | null;
                target?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PolicyAdviceOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_policy_history: {
        parameters: {
            query: {
                suite: string;
                policy: string;
                target: string;
                /** @description A JSON object of params; omitted: all params. */
                params?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PolicyAdviceOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_project: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectPatchIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_grantable_targets: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_GrantedTargetOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    grant_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    withdraw_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_projects: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ProjectOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_project: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_rules: {
        parameters: {
            query?: {
                kind?: ("arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped") | null;
                mode?: ("active" | "shadow" | "off") | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertRuleOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_applied_rule: {
        parameters: {
            query: {
                suite: string;
                benchmark: string;
                arm: string;
                metric: string;
                target: string;
                kind?: "arm_slower" | "history" | "gate" | "missing" | "schedule" | "quarantine" | "agent_silent" | "import_stopped";
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppliedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_orphans: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrphansOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replay_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_shipped_rules: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ShippedRuleOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleUpdateIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    mute_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MuteIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unmute_rule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleDetailOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_rule_versions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertRuleVersionOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                suite?: string | null;
                target?: string | null;
                state?: ("queued" | "active" | "done" | "failed" | "cancelled") | null;
                trigger?: ("manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import" | "recorded") | null;
                from?: string | null;
                to?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RunOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_run: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    estimate_run: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEstimateOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_comparisons: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ComparisonOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_completeness: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompletenessOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_samples: {
        parameters: {
            query?: {
                format?: "ndjson" | "csv" | "parquet";
                /** @description About how many rows this part should have; all unless given. */
                limit?: number | null;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table. If more rows follow, the header `Link` has the address of the next part. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_verdicts: {
        parameters: {
            query?: {
                format?: "json" | "junit" | "markdown";
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictsOut"];
                    "application/xml": string;
                    "text/markdown": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ScheduleOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_schedule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_schedule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_schedule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_schedule: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePatchIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_series: {
        parameters: {
            query?: {
                suite?: string | null;
                benchmark?: string | null;
                arm?: string | null;
                metric?: string | null;
                target?: string | null;
                branch?: string | null;
                /** @description Words that must all occur in the name. */
                text?: string | null;
                changed?: boolean | null;
                from?: string | null;
                to?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SeriesOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_series: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                series_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesPageOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_points: {
        parameters: {
            query?: {
                /** @description An instant with its zone, included. */
                from?: string | null;
                /** @description An instant with its zone, included. */
                to?: string | null;
                /** @description More than these are thinned. */
                max_points?: number;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                series_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PointsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    current_session: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_in_by_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordSignInIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    accept_with_new_account: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationAcceptIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationLinkIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationOfferOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_in_by_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkSignInIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_since: {
        parameters: {
            query: {
                from: string;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SinceOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream: {
        parameters: {
            query?: {
                run?: string | null;
                last_event_id?: number | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` to resume from, `event` the kind, `data` LiveEventOut. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        /** Id */
                        id: number;
                        /**
                         * Kind
                         * @enum {string}
                         */
                        kind: "run" | "job" | "progress" | "samples" | "conditions" | "log" | "alert" | "target";
                        /**
                         * At
                         * Format: date-time
                         */
                        at: string;
                        /** Run Id */
                        run_id: string | null;
                        /** Job Id */
                        job_id: string | null;
                        /** Data */
                        data: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_suites: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SuiteOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_suite: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_retired: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                suite: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RetiredOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retire_benchmark: {
        parameters: {
            query?: {
                arm?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                suite: string;
                benchmark: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetireIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetiredOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    restore_benchmark: {
        parameters: {
            query?: {
                arm?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                suite: string;
                benchmark: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_table: {
        parameters: {
            query?: {
                /** @description Id of a run. */
                run?: string | null;
                /** @description Id of a series: of points and findings. */
                series?: string | null;
                from?: string | null;
                to?: string | null;
                format?: "ndjson" | "csv" | "parquet";
                /** @description About how many rows this part should have; all unless given. */
                limit?: number | null;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                table: "alerts" | "comparisons" | "conditions" | "findings" | "points";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table. If more rows follow, the header `Link` has the address of the next part. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_targets: {
        parameters: {
            query?: {
                kind?: ("host" | "device") | null;
                state?: ("online" | "busy" | "offline") | null;
                health?: ("unknown" | "checking" | "good" | "recovering" | "suspect" | "quarantined") | null;
                simulated?: boolean | null;
                q?: string | null;
                fields?: "names" | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TargetOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_targets_by_noise: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetsNoiseOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_target_conditions: {
        parameters: {
            query?: {
                from?: string | null;
                to?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetConditionsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_target_events: {
        parameters: {
            query?: {
                axis?: ("connection" | "health" | "maintenance" | "order" | "recovery") | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TargetEventOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_maintenance: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MaintenanceIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quarantine_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reboot_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recheck_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    release_target: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                target_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TokenOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_token: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreatedOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_commit_verdicts: {
        parameters: {
            query: {
                commit: string;
                suite?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitVerdictsOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_waiting: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_waivers: {
        parameters: {
            query?: {
                suite?: string | null;
                limit?: number;
                cursor?: string | null;
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_WaiverOut_"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_waiver: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: {
                /** @description Makes the request safe to send again: it is carried out once per key. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaiverIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaiverOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_waiver: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                waiver_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaiverOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_waiver: {
        parameters: {
            query?: {
                /** @description Which of your projects; `default`, or your only one, unless given. A token has its own. */
                project?: string;
            };
            header?: never;
            path: {
                waiver_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaiverOut"];
                };
            };
            /** @description What went wrong; `code` is the literal to switch on. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: string;
                    };
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
}
