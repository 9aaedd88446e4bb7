// Generated from backend/openapi.json by `npm run api`. Do not edit.

export interface paths {
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Accounts
         * @description Everyone an alert can be assigned to, by id.
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
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description Agents, newest first.
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
         * @description Join with a one-time code; the credential is returned only here.
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
         * @description Create a one-time code for one agent.
         */
        post: operations["create_enrolment_code"];
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
         * @description Lease the next job, waiting up to `wait_s` for one; 204 when there is none.
         *
         *     While it waits it holds neither a thread nor a database connection.
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
         * @description Alerts, the newest first. `assignee=none`: nobody has taken it; `shadow=true`: only those raised by a
         *     rule in shadow, which are in no other list; `rule`: a rule's id; `text`: in title, words, benchmark,
         *     suite or commits.
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
    "/api/v1/alerts/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Triage Batches
         * @description Bulk decisions, the newest first.
         */
        get: operations["list_triage_batches"];
        put?: never;
        /**
         * Triage In Bulk
         * @description One decision about several alerts: all of them, or none and 409 `bulk_refused` with the reason of
         *     each.
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
         * @description Take a bulk decision back, within 15 minutes and only if none of its alerts has changed since: else
         *     409 `undo_refused`.
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
         * @description One alert: its rule, its evidence with every filter, its history, and what can be done with it.
         *     `expand=window`: every finding's window with all its jobs and values, else how many and which first and
         *     last.
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
         * @description Acknowledge, resolve or reopen.
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
         * @description Give the alert to a person, or to nobody (null).
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
         * @description Look for the one commit by A/B jobs. 409 while one runs, and where the code is not to blame.
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
         * @description Say until when it should be dealt with (null: no date).
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
         * @description Every filter with its number and limit, the data window, and one paragraph for people. `rederive`: also
         *     make the first 20 findings again from stored samples; each reads as many jobs as its window has points.
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
         * @description Link the issue in which it is worked on (null: none).
         */
        put: operations["link_alert_issue"];
        post?: never;
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
         * @description Add a remark to the history.
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
         * @description Write something beside a series, or beside every series of a target.
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
         * @description Take a note away.
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
         * @description The newest comparisons of one benchmark per target, with the rule and a summary in words.
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
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audit
         * @description Who changed what, the newest first: rules, alerts, bulk triage, schedules, retired benchmarks,
         *     tokens, targets.
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
    "/api/v1/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Comparison
         * @description Two runs (`run_…`) or two revisions (7 or more digits of a commit): what differs around them, then
         *     every measurement, in pages. Shown, not judged, but where an A/B job of this pair decided.
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
         * @description Store a document as `paceline import` writes it. The same one again: 200, and nothing changes.
         */
        post: operations["store_import"];
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
         * @description A document's rows with what they say, the policy it states, and how that compares with what was
         *     measured here.
         */
        get: operations["read_import"];
        put?: never;
        post?: never;
        /**
         * Delete Import
         * @description Forget a document.
         */
        delete: operations["delete_import"];
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
         * @description What who operates Paceline should know, the newest first; counted in `/metrics` too.
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
    "/api/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Job
         * @description One job.
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
         * @description End the attempt; `done` is taken once every item has arrived.
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
         * @description Store samples, events, conditions, log lines and what a log reported; sent again they are duplicates,
         *     not more data.
         */
        post: operations["store_items"];
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
         * @description Report what the agent does next.
         */
        post: operations["report_state"];
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
         * @description What the target was like, the oldest first; with `expand=raw`, of a device, what its commands
         *     printed.
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
         * @description The empirical distribution of each arm at one point of the params.
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
         * @description Recent values per case while a job measures.
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
         * @description Log lines, the oldest first; `tail=true` gives the last `limit` of them, `format=text` all of them.
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
         * @description A job's newest analysis; 404 `not_analysed` before there is one.
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
         * @description What a device's log reported in lines that the suite declares, the oldest first: an app's own figures,
         *     no samples.
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
         * @description Where a suite stands: benchmark × target; without a branch on the one measured last.
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
    "/api/v1/noise-floors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Noise Floors
         * @description What targets resolve, by their newest A/A job, the newest first; with the threshold proposed to
         *     rules.
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
         * @description Alerts by state, agents, the newest runs.
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
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Policies
         * @description From where an arm wins, cold and warm, and whether the policy in force is right: the newest advice per
         *     target, policy and point of the params.
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
         * @description All advice about one policy on one target, the newest first.
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
    "/api/v1/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Rules
         * @description Rules by name, each with its mute and how its alerts ended.
         */
        get: operations["list_rules"];
        put?: never;
        /**
         * Create Rule
         * @description Save a new rule; 422 `below_noise_floor` when it asks for more than a target can resolve.
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
         * @description The one rule that decides about a measurement; `target` is the target's name.
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
         * @description Rules that decide about nothing that lives, and measurements only the built-in default decides
         *     about.
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
         * @description What a rule would have raised in the last days. Saves nothing.
         */
        post: operations["replay_rule"];
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
         * @description One rule with the noise floor it has to respect and all of its mutes.
         */
        get: operations["get_rule"];
        /**
         * Update Rule
         * @description Save a new version; 409 when somebody saved another meanwhile.
         */
        put: operations["update_rule"];
        post?: never;
        /**
         * Delete Rule
         * @description Take a rule out of force; its versions stay, because alerts name them.
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
         * @description Tell nobody of its alerts for a while; what is still open then is told at the end.
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
         * @description End the silence now.
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
         * @description Everything a rule ever said, the newest first.
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
         * @description Runs, the newest first.
         */
        get: operations["list_runs"];
        put?: never;
        /**
         * Create Run
         * @description Create a run. Needs `ingest`.
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
         * @description How long a request would take, from past runs, and from where on a demonstration shows anything. Makes
         *     no run; refuses what a request for one would be refused for, but not that no target is online.
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
         * @description One run with its jobs.
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
         * @description Stop the jobs that have not ended; repeatable. Needs `ingest`.
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
         * @description Every arm against its reference, of the run's concluded jobs.
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
         * @description What a run owed and what has arrived by now, every missing case with its reason.
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
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Schedules
         * @description Schedules, the newest first.
         */
        get: operations["list_schedules"];
        put?: never;
        /**
         * Create Schedule
         * @description Create a schedule of runs; it starts once it is enabled. Needs `ingest`.
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
         * @description One schedule.
         */
        get: operations["get_schedule"];
        put?: never;
        post?: never;
        /**
         * Remove Schedule
         * @description Delete a schedule; its runs stay. Needs `ingest`.
         */
        delete: operations["remove_schedule"];
        options?: never;
        head?: never;
        /**
         * Change Schedule
         * @description Enable it (its next run is due at once), disable it, or change its interval. Needs `ingest`.
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
         * @description Series by benchmark and arm; `changed` lists those with (or without) a change that detection still
         *     looks at.
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
         * @description One series: its levels, environments, changes, noise floor, the rule in force, and notes.
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
         * @description The points of a window, oldest first, thinned where there are too many to draw.
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
         * @description The current session. 401 without one.
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
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream
         * @description Live events from now on, or from after `Last-Event-ID`. Begins with an event `ready`; an event `reset`
         *     means that older events are gone and the page should read everything again.
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
         * @description Suites by name.
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
         * @description One suite with its benchmarks, arms, params, metrics and knobs.
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
         * @description Benchmarks and arms of a suite that people called gone on purpose.
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
         * @description Say that a benchmark (or one `arm` of it) is gone on purpose; 409 `still_declared` while the suite's
         *     manifest has it.
         */
        put: operations["retire_benchmark"];
        post?: never;
        /**
         * Restore Benchmark
         * @description Take that back: runs miss it again.
         */
        delete: operations["restore_benchmark"];
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
         * @description Targets in the order they were first seen; `q` searches name, serial, model and route.
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
    "/api/v1/targets/{target_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Target
         * @description One target with its preflight findings and the output of its last health check.
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
         * @description What a target was like over time, and during each of its jobs; without bounds the last week.
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
         * @description The events of a target, the newest first.
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
         * @description Tokens of programs, newest first, without their secrets.
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
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description The process answers. (Without a thread: it says so while all of them wait.)
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
         * @description Prometheus text format: of this process, and what all share (outbox, incidents).
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
         * @description Whether this process can do its work: database, its schema, writes, broker, background work. 503 names
         *     what cannot.
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
         * @description `baseline_commit` goes with `expected` of an alert about a series' history; omitted: the commit it
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
        /** AlertDetailOut */
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
            kind: "arm_slower" | "history" | "environment" | "policy";
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
            target_id: string;
            /** Target Name */
            target_name: string;
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
            run_id: string;
            /** Confirmation Run Id */
            confirmation_run_id: string | null;
            rule: components["schemas"]["RuleOut"];
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
         * @description `ratio` above 1: it got worse. A history alert blames the commits after `base_commit`, up to and with
         *     `head_commit`; `culprit` is the one a bisection found. `cause`: null for arms and policies. `rule_id`:
         *     null for a rule of a manifest or a built-in one. `baseline_commit`: called expected, the level from there
         *     on is the new baseline.
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
            kind: "arm_slower" | "history" | "environment" | "policy";
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
            target_id: string;
            /** Target Name */
            target_name: string;
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
            run_id: string;
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
            kind: "history" | "arm_slower";
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
         *     arm_slower it is added to the margin of the suite's manifest.
         */
        AlertRuleIn: {
            /** Name */
            name: string;
            /**
             * Kind
             * @default history
             * @enum {string}
             */
            kind: "history" | "arm_slower";
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
            kind: "history" | "arm_slower";
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
            kind: "history" | "arm_slower";
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
            kind: "history" | "arm_slower";
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
         * @description A note on a series, or on a target (then all its series show it), at an instant.
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
         * @description The one rule that decides about a measurement; `rule_id` null: a built-in default.
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
            kind: "history" | "arm_slower";
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
         * ArmsOut
         * @description The newest comparisons of one benchmark per target, with the rule in words and a one-sentence
         *     summary.
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
        };
        /** AssigneeIn */
        AssigneeIn: {
            /** Account Id */
            account_id: string | null;
        };
        /**
         * AuditEntryOut
         * @description `action` is a verb, `detail` depends on it, never a secret; `words` says it in a sentence.
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
         * @description A defect of the protocol by name. `decisive`: the comparisons it concerns are inconclusive.
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
         * @description What the audit found in one group. `naive`: what the means alone would have said of it.
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
         * BaseOut
         * @description The other revision of an A/B job. `same_artifact`: both sides ran the same bytes, so what differs is
         *     the environment, never the code (I15).
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
         * @description `reference`, `margin_percent`: what the arm rule compares with on hosts; `device_…`: on devices.
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
         * @description `budget`: A/B jobs that may be asked for; null: as the server is set.
         */
        BisectIn: {
            /** Budget */
            budget?: number | null;
        };
        /**
         * BisectionOut
         * @description `good` and `bad` are indexes into `commits` (−1 is the base): the culprit lies after the one, up to and
         *     with the other. `used` of `budget` A/B jobs were asked for.
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
         * @description One A/B job, base against `commit`. `index` counts from the oldest commit after the base; null: the
         *     head, to find out whether there is anything to look for. `verdict` null: still measuring; `skipped`: the
         *     commit could not be measured; `failed`: its job failed for another reason.
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
         * BulkIn
         * @description One decision about several alerts, all of them or none. At least one of `action`, `assign`, `due` and
         *     `note`; the note goes with the action, or is a remark of its own.
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
         * @description One question a change had to answer, with its number and limit.
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
         * @description A change of a series' level. `job_id`, `at`, `commit`: the first point of the new level; it may lie
         *     anywhere from `location_first` to `location_last` (job ids, both ends included). `effect` is level after ÷
         *     level before − 1 with its 99 % interval. `evaluations`: how many in a row found it.
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
         * CheckIn
         * @description A finished health check. `infrastructure`: the device or the connection to it failed, rather than the
         *     device being hot, empty or full for a while.
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
        /**
         * CheckStepIn
         * @description `ok` null: not checked, which is neither a failure nor a pass.
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
         * @description `ok` null: not checked.
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
         * @description What both sides together measured, whatever was asked for: what a filter can be set to.
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
         * ClaimIn
         * @description A sentence about one batch size; `percent` above 0 is slower.
         */
        ClaimIn: {
            /** Line */
            line: number;
            /** Batch */
            batch: number;
            /** Percent */
            percent: number;
            /** About */
            about: boolean;
            /** Printed */
            printed: string;
            /** Text */
            text: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * CommitIn
         * @description A commit of the agent's repository. `left_out`: how many older commits of the range are not listed; only
         *     in the oldest one listed.
         */
        CommitIn: {
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
            /**
             * Left Out
             * @default 0
             */
            left_out: number;
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
         * CompareOut
         * @description Two revisions or two runs: what differs around them first, then every measurement, the clearest and
         *     largest first. `total`: rows on all pages; `hidden`: those that `hide_uncertain` left out; `next`: the
         *     opaque cursor of the following page, null on the last. Note and summary are of all rows.
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
            /** Next */
            next: string | null;
        };
        /**
         * CompareRowOut
         * @description One measurement of both sides; null: that side did not measure it. `ratio` is head ÷ base of the cost
         *     (a time's ratio; inverted where higher is better): above 1 is worse. `significance`: clear (the interval
         *     excludes 1 and exceeds the noise floor) · below_noise · uncertain, as is every row that is only shown of
         *     an excluded side. `judged`: an A/B job of this very pair decided (pass or fail), and `verdict` and the
         *     interval are its; else the row is shown, not judged (I11). `verdict_job_id` of a row that is not judged:
         *     that A/B job measured the pair and could not decide.
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
         * @description What one side is: a run, or the newest runs of a revision. `name` is how it was asked for.
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
         * @description One arm against the reference at one point of the params. `ratio` = arm time ÷ reference time: below
         *     1 is faster, for every metric. `lower`/`upper`: order-statistic interval of the paired ratio.
         *
         *     `sides` "revisions": the arm at the job's commit (head) against the same arm at its base; `reference` is
         *     then `base`.
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
        };
        /**
         * CompletenessOut
         * @description What a run owed and what arrived. `words`: "3 of 41 missing (2 crash, 1 skipped)". `pending` cases may
         *     still arrive; `unavailable` ones cannot run on their target, which is said by the workload.
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
            trigger: "manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import";
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
         * @description `raw`, for a device and only with `expand=raw`: the output the values were read from.
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
         * @description A setting of the device that voids its jobs unless this name is suppressed.
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
         * CriterionIn
         * @description What `paceline import --format criterion` stores as import.json.
         */
        CriterionIn: {
            /**
             * V
             * @constant
             */
            v: 1;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            format: "criterion";
            /** File */
            file: string;
            /** Bytes */
            bytes: number;
            /** Sha256 */
            sha256: string;
            /** Why No Verdict */
            why_no_verdict: string;
            /** Series */
            series: components["schemas"]["CriterionSeriesIn"][];
        };
        /**
         * CriterionSeriesIn
         * @description One benchmark of one baseline: `times[i]` of `iterations[i]` iterations together, in `unit`.
         */
        CriterionSeriesIn: {
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm?: string | null;
            /** Value */
            value?: string | null;
            /** Baseline */
            baseline: string;
            /** Unit */
            unit?: string | null;
            /** Iterations */
            iterations: number[];
            /** Times */
            times: number[];
        };
        /**
         * CrossoverOut
         * @description From which value of the param on the arm wins. `value`: estimated between measured values; its
         *     `confidence` interval is `lower` to `upper`, of which `lower` null says "or below the smallest measured"
         *     and `upper` null "or beyond the largest". `measured_from`: the smallest measured value from which on the
         *     arm wins with 99.8 % confidence at every measured value.
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
         * @description One measured value of the param. `ratio` = arm time ÷ reference time, below 1 is faster;
         *     `lower`/`upper`: its 99.8 % interval; `fitted`: the isotonic fit through all values.
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
         * @description The commit to blame; `ratio` = its time ÷ the base's, side by side, with the interval of that job.
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
        /**
         * DerivedOut
         * @description `value` null with `answered` true is an answer ("there is no crossover"); else `note` says why there is
         *     none. `unit` says how to read it: a ratio, a share of 1, an exponent, or a value of `param`.
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
        /**
         * DistributionOut
         * @description Empirical distribution per arm, at most 150 points each, values in the metric's base unit.
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
         * @description Until when it should be dealt with; null: no date.
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
        };
        /** EnrolOut */
        EnrolOut: {
            /** Agent Id */
            agent_id: string;
            /** Credential */
            credential: string;
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
         * @description One factor of a target that differs between the sides; `factor` null: it is not known what differs.
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
         * @description What the target was: a fingerprint with its factors. `change` says what differs from the one before.
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
         * @description One finding: what it says, what it was asked, on which data, by which method.
         */
        ExplainedFindingOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy";
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
         * @description `sentence`: one paragraph for people. `cause_text`: why that cause, in words.
         */
        ExplanationOut: {
            /** Alert Id */
            alert_id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy";
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
         * @description Our own false alarms (STATISTICS §4.8): of the alerts people heard of in the last `days`, those that
         *     vanished or were called invalid. `share` is null with fewer than five.
         */
        FalseAlarmsOut: {
            /** Days */
            days: number;
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
         * FindingOut
         * @description What detection said, frozen. Of a comparison: `ratio` with `launches` and `blocks`, both arms or (of an
         *     A/B run, `sides` = revisions) head against base. Of a change of a series (`series_id`): `ratio` = level
         *     after ÷ before, above 1 the worse side, `numbers` holds the rest, and there is no verdict; `window` is
         *     {points, first, last} then (the last two are jobs), with `expand=window` {job_ids, values}.
         */
        FindingOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "arm_slower" | "history" | "environment" | "policy";
            /**
             * Role
             * @enum {string}
             */
            role: "candidate" | "confirmation" | "recovery";
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
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
         * FinishIn
         * @description The last write of an attempt; `last_seq` is its highest sequence number (−1: none).
         *
         *     `detail`: what happened, in one sentence; then, if there is output, its first error with the lines around
         *     it, each beginning with two blanks and `> ` (the error) or `| ` (context); then what to do next.
         */
        FinishIn: {
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "done" | "failed" | "cancelled";
            /** Cause */
            cause?: ("stream_invalid" | "workload_hung" | "workload_flooded" | "workload_crashed" | "workload_error" | "workload_no_terminal" | "check_failed" | "build_failed" | "suite_invalid" | "checkout_failed" | "agent_lost" | "agent_error" | "disk_full" | "target_refused" | "lease_lost" | "cancelled" | "device_lost" | "device_rebooted" | "device_refused" | "device_storage_full" | "device_unauthorized" | "placing_failed" | "analysis_failed") | null;
            /** Detail */
            detail?: string | null;
            /** Last Seq */
            last_seq: number;
        };
        /**
         * FiredOut
         * @description One finding the rule would have turned into an alert. `effect`: a share, above 0 is worse.
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
         * FloorOut
         * @description The noisiest series a rule decides about: `mde` is a share.
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
         * @description A stretch in which nothing was read, from the last reading before it to the first after it.
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
        };
        /**
         * GatesIn
         * @description The readings that decide whether the device may be used now; null: not reported.
         */
        GatesIn: {
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
        /** GatesOut */
        GatesOut: {
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
         * GoneOut
         * @description A benchmark (or an arm of one) that earlier runs measured and the newest manifest does not declare, nor
         *     any alias: retire it or restore it.
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
         * @description `failures`: infrastructure failures since its last successful run.
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
         * @description Sent at start and every `heartbeat_s`. `refuses` of a target says why it takes no jobs (disk full, …).
         *
         *     Each target is accepted or refused on its own: an invalid value of one device does not stop the agent.
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
        };
        /**
         * ImportDetailOut
         * @description `other_lines`: lines read that are no rows, such as counters, with their own sentences. `runs`: what
         *     criterion measured, which has samples and no rows; then `why_no_samples` is empty, and `why_no_verdict`
         *     says why they are not judged.
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
            /** Note Count */
            note_count: number;
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
        };
        /**
         * ImportIn
         * @description `title`: what people call it; without one it is named after its file. `measured_on` is for criterion's
         *     runs alone.
         */
        ImportIn: {
            /** Document */
            document: components["schemas"]["LogcatIn"] | components["schemas"]["CriterionIn"];
            /** Title */
            title?: string | null;
            measured_on?: components["schemas"]["MeasuredOnIn"];
        };
        /**
         * ImportOut
         * @description One stored document. `devices`: as its headings name them, or what criterion's runs were measured on;
         *     `row_count`: its rows, or series; `note_count`: rows that something in the document disagrees with.
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
            /** Note Count */
            note_count: number;
        };
        /**
         * ImportedAdviceOut
         * @description The policy held against what was measured on one target (STATISTICS §3), or against an imported device,
         *     of which there are no samples. `params`: the point of the policy's other params; advice is about one.
         *     `holds` null: nobody can say.
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
         * @description Both averages of one batch size on one device. `percent`: arm ÷ reference − 1, computed, above 0 the
         *     arm is slower; from `lower_percent` to `upper_percent` by what printing rounded off alone: no confidence.
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
            /** Stated */
            stated: components["schemas"]["StatedOut"][];
            /** Notes */
            notes: string[];
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
         * @description A run that was made of one baseline. A saved one is the `branch` of its series; `new`, criterion's last
         *     run, has none and so no series.
         */
        ImportedRunOut: {
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /** Baseline */
            baseline: string;
            /** Series */
            series: components["schemas"]["ImportedSeriesOut"][];
        };
        /**
         * ImportedSeriesOut
         * @description One benchmark of an imported run. `outliers_*`: samples beyond Tukey's fences at 1.5 and 3
         *     interquartile ranges; they are counted and kept.
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
            /** Samples */
            samples: number;
            /** Median Ns */
            median_ns: number;
            /** Outliers Mild */
            outliers_mild: number;
            /** Outliers Severe */
            outliers_severe: number;
        };
        /**
         * InForceOut
         * @description The policy that is shipped: the arm is used from `minimum` on, after `warmup_rounds` (null: it names
         *     none).
         */
        InForceOut: {
            /** Minimum */
            minimum: number;
            /** Warmup Rounds */
            warmup_rounds: number | null;
        };
        /**
         * IncidentOut
         * @description What who operates Paceline should know; `code` is a literal, `detail` depends on it.
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
         * IssueIn
         * @description Where it is worked on: an http or https address; null: nowhere.
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
         * @description What a target was like during one of its jobs, as far as it was analysed.
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
         * @description `outcome` is the word to show; `cause` and `cause_detail` say why it failed, was lost, expired or was
         *     cancelled, and are null if it was judged.
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
         * @description The same shape `make bench JSON=…` writes. With a `base` it is of an A/B job: comparisons are of
         *     revisions, measurements of both sides; derived metrics and gates are not judged there.
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
            checks: components["schemas"]["paceline_server__detect__schemas__CheckOut"][];
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
            base: components["schemas"]["BaseOut"] | null;
            /** Blockers */
            blockers: string[];
            /** Suppressed */
            suppressed: string[];
            /** Conditions */
            conditions: {
                [key: string]: {
                    [key: string]: number;
                };
            };
        };
        /**
         * KnobOut
         * @description A workload option that is no param. `demonstration` marks one made to show an alert (a slowed arm).
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
         * LinkSignInIn
         * @description The one-time token of a sign-in link.
         */
        LinkSignInIn: {
            /** Token */
            token: string;
        };
        /**
         * LiveSeriesOut
         * @description Thinned recent values of one case while a job measures: `values` per iteration, base unit; in an A/B
         *     job of one `side`.
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
            /**
             * Claims
             * @default []
             */
            claims: components["schemas"]["ClaimIn"][];
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
         * @description What `paceline import` stores of a log as import.json.
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
         * @description `until`: when it ends by itself; omitted: a person ends it.
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
         * @description One benchmark on one target. Its value is that of one series, named by `series_id` and `of`
         *     ("native time, batch=1000"); verdict, changes and noise floor are the worst of all its `series`.
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
         * @description A benchmark. `declared` false: older runs had it and the newest manifest does not. `retired`: why a
         *     person said that it is gone on purpose.
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
        /** MatrixTargetOut */
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
        };
        /**
         * MatrixUnmeasuredOut
         * @description The newest job that should have measured a benchmark on a target ended without a verdict: what a cell
         *     shows is older than that, or there is none. `words`: why, in a line.
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
         * @description Where it was measured. `suite`: an announced one, whose gates it is held against where the names of
         *     benchmarks are the same; `on`: what the machine is called; `commit`: what was measured.
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
         * @description A declared case without samples. `reason` is a literal, `text` says it in full.
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
         * @description All cases of a run that are missing for one reason. `words`: "24 cases: build failed"; `text` says the
         *     reason in full and is that of each of its cases.
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
         * @description What this target resolves for this series: effects below `mde` (a share) are not seen. `lower`,
         *     `upper`: the band around the present level in which differences say nothing. `basis`: measured by an A/A
         *     job, or estimated from the scatter of the series' own points before there was one.
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
         * @description What a target resolves of one measurement, by its newest A/A job: a true effect as large as `mde` (a
         *     share) is called slower in 80 of 100 jobs, a smaller one less often. `lower`, `upper`: the interval of the
         *     A/A ratio itself, which should hold 1. A rule that asks for less than `mde` is refused;
         *     `proposed_threshold` is what it had better ask for.
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
         * @description Alerts in shadow are not counted.
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
        /**
         * ParamOut
         * @description `values` are the declared values in order; a benchmark runs their cross product unless a run
         *     selects.
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
        /** PasswordSignInIn */
        PasswordSignInIn: {
            /** Email */
            email: string;
            /** Password */
            password: string;
        };
        /**
         * PenaltyOut
         * @description How much slower than when warm the arm is after `after` rounds of a fresh process: a share, fitted.
         */
        PenaltyOut: {
            /** After */
            after: number;
            /** Penalty */
            penalty: number;
        };
        /**
         * PointOut
         * @description What one job says: the median of its warm samples with a 99 % interval of it, `n` samples in
         *     `launches`. `excluded`: why it is shown and never judged. `environment`: index into `environments`;
         *     `conditions`: the target's tracks meanwhile.
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
         * @description The points of one window, oldest first. `total` lie in the window; when there are more than
         *     `max_points`, neighbours share buckets that keep their lowest and highest point, and `note` says so. Both
         *     ends and points at which a level changed are always kept. `first_at`, `last_at`: of the whole series.
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
         * @description `holds`: whether the policy in force is right on this target: its minimum lies in the interval, or it
         *     picks no losing arm, and its warm-up rounds suffice; null: the samples do not say.
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
         * @description What may be asked of a run at once; `benchmarks` null: all.
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
         * @description RFC 9457 problem details; `code` is the literal a program switches on.
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
        /**
         * QuantityIn
         * @description A printed number in base units; the true one lies from `low` to `high`.
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
         * @description The output of one command. `status`: its exit status, null if it was ended; `at_ms`: the agent's
         *     clock.
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
         * ReasonIn
         * @description Why a person decided so; kept with who and when.
         */
        ReasonIn: {
            /** Reason */
            reason: string;
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
         * RecoveryIn
         * @description A step of the recovery ladder that was taken; `give_up` is the last. A step with an `id` is kept once,
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
         * @description The finding made again just now from stored samples, with the parameters stored beside it. `identical`:
         *     every number is the same to the last bit; null when it cannot be made again (`text` says why).
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
         * @description A rule as it would be saved; `rule_id` when it would replace one.
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
         * @description `fired` counts alerts: findings of one target at one commit in one direction are one. `findings` are
         *     the newest first, at most 200 of `findings_total`.
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
         * RetireIn
         * @description Why a benchmark (or one of its arms) is gone on purpose.
         */
        RetireIn: {
            /** Reason */
            reason: string;
        };
        /**
         * RetiredOut
         * @description What a person called gone on purpose; `arm` null: the whole benchmark.
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
        /**
         * RowIn
         * @description Both averages of one batch size of one session.
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
         * @description The rule that decides about this series. `limit`: the value beyond which it fires, from the present
         *     level; null while there is none.
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
         * @description How long a request would take if it were made now: building and measuring, without waiting for a
         *     target. `words` says on what that is based.
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
         *     `launches` defaults to 5 on a host and 10 on a device. `suppress`: names of configuration errors (emulator,
         *     debuggable, …) that do not void its jobs; verdicts mention them. Simulated targets are included by default
         *     only if `simulated` is suppressed.
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
        };
        /**
         * RunOut
         * @description `outcome` is the word to show, `reason` says why in one line. One job judged `fail` makes the run fail;
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
            /** Branch */
            branch: string | null;
            /**
             * Trigger
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import";
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
         * @description `next_at`: when it is due, if it is enabled. Missed runs are not made up for.
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
         * @description Points at one level, from `start_job_id` to `stop_job_id` (both included). `lower`, `upper`: where
         *     single points of it ordinarily lie (three sigma of their scatter). `environment` is an index into the
         *     series' environments.
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
         * SeriesOut
         * @description One series as lists show it. `value`, `at`, `commit`: of its newest point, counted or not. `changes`:
         *     how many changes of each state it has.
         */
        SeriesOut: {
            /** Id */
            id: string;
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
         * @description All of a series but its points. `state` says in one sentence where it stands; `level` is that of the
         *     newest segment, null before detection has looked (`evaluated_at` null). `changes`: newest first.
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
        /** SessionOut */
        SessionOut: {
            account: components["schemas"]["AccountOut"];
            /** Scopes */
            scopes: ("agent" | "ingest" | "read" | "alerts:write" | "admin")[];
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * SlowdownOut
         * @description From how many percent on a knob makes its arm slower than the reference on a target, by the newest
         *     measurements. `percent`: at the first point; `everywhere_percent`: at all of them; null: unknown.
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
        /**
         * StateIn
         * @description A state of the agent; with `measuring` it reports hashes, build facts and commits. `commits`, oldest
         *     first: for an A/B job the first parents after the base up to the head, else only the head.
         */
        StateIn: {
            /**
             * State
             * @enum {string}
             */
            state: "preparing" | "measuring" | "uploading";
            /** Detail */
            detail?: string | null;
            /** Artifact Hash */
            artifact_hash?: string | null;
            /** Base Artifact Hash */
            base_artifact_hash?: string | null;
            /** Commits */
            commits?: components["schemas"]["CommitIn"][] | null;
            /** Build */
            build?: {
                [key: string]: string;
            };
            /** Fingerprint */
            fingerprint?: string | null;
        };
        /**
         * StatedOut
         * @description What a sentence of the document says of a row: a signed percentage, above 0 slower. `agrees`: whether
         *     the printed averages can mean that.
         */
        StatedOut: {
            /** Percent */
            percent: number;
            /** About */
            about: boolean;
            /** Agrees */
            agrees: boolean;
            /** Text */
            text: string;
            /** Line */
            line: number;
        };
        /**
         * SuiteAnnounceIn
         * @description An agent's announcement of a suite it can run: the parsed manifest, as JSON, of its allow-listed
         *     repository.
         */
        SuiteAnnounceIn: {
            /** Repository */
            repository: string;
            /** Manifest Path */
            manifest_path: string;
            /** Manifest */
            manifest: {
                [key: string]: unknown;
            };
            /** Commit */
            commit: string;
            /** Branch */
            branch?: string | null;
        };
        /** SuiteOut */
        SuiteOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description: string | null;
            /** Repository */
            repository: string;
            /** Manifest Path */
            manifest_path: string;
            /** Manifest Hash */
            manifest_hash: string;
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
         * @description A suite that was announced and not taken, and what to do about it. Its agent's others are taken.
         */
        SuiteRefusedOut: {
            /** Suite */
            suite: string;
            /** Reason */
            reason: string;
        };
        /**
         * TakesJobsOut
         * @description Whether a job may be leased for it now, with the sentence that says so.
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
            gates?: components["schemas"]["GatesIn"] | null;
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
         * @description `note`: what the tracks can and cannot say, in a sentence. `gaps`: of all tracks, in order; a value
         *     does not hold through one.
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
         * @description How long one job would take. `seconds` null: nothing is known yet; `based_on`: past jobs it rests on;
         *     `same_choice`: they measured exactly this, else the figure is scaled by the amount of work.
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
         * TargetOut
         * @description `state` says whether it is reachable and busy; `hold`, independently, why it must not be used:
         *     maintenance before quarantine before cooling. A host has no connection, gates or checks, and its only
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
            gates: components["schemas"]["GatesOut"] | null;
            /** Configuration */
            configuration: components["schemas"]["ConfigurationErrorOut"][];
            check: components["schemas"]["paceline_server__fleet__device_schemas__CheckOut"] | null;
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
         * TokenCreatedOut
         * @description The only answer that ever carries the secret.
         */
        TokenCreatedOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** Scopes */
            scopes: ("agent" | "ingest" | "read" | "alerts:write" | "admin")[];
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
            /** Secret */
            secret: string;
        };
        /** TokenIn */
        TokenIn: {
            /** Name */
            name: string;
            /** Scopes */
            scopes: ("agent" | "ingest" | "read" | "alerts:write" | "admin")[];
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
            /** Scopes */
            scopes: ("agent" | "ingest" | "read" | "alerts:write" | "admin")[];
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
        };
        /**
         * TrackOut
         * @description One reading of a target over time: battery_c (°C), battery_percent, thermal_status (0 none … 6),
         *     free_bytes, charging (0 or 1). Kept when it changed and every ten minutes.
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
         * @description A bulk decision; it can be undone until `undo_until` unless an alert has changed meanwhile.
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
         * UnavailableOut
         * @description An arm this target cannot run, and why; `params` is empty when that is so at every point.
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
         * UnruledOut
         * @description A benchmark on a target about which only the built-in default decides.
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
        /**
         * VersionOut
         * @description Which release answers.
         */
        VersionOut: {
            /** Version */
            version: string;
        };
        /**
         * WarmupOut
         * @description `rounds`: after how many warm-up rounds the arm is as fast as when warm, but for the margin; null when
         *     that was not reached or not measured. `calls_per_round`: what one round of the bench ran.
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
         * @description The data one finding looked at, in words; `first_at`, `last_at`: when it was measured, for history.
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
         * WorkOut
         * @description What an agent executes: launches `first_launch … first_launch + launches - 1` of one batch; with
         *     `base_commit` each of them once per side.
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
            /** Launch Timeout S */
            launch_timeout_s: number;
            /** Suppress */
            suppress: string[];
        };
        /** CheckOut */
        paceline_server__detect__schemas__CheckOut: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean;
            /** Detail */
            detail: string;
        };
        /** CheckOut */
        paceline_server__fleet__device_schemas__CheckOut: {
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_accounts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
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
    list_agents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
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
            query?: never;
            header?: never;
            path?: never;
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
    heartbeat: {
        parameters: {
            query?: never;
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
            query?: never;
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
                kind?: ("arm_slower" | "history" | "environment" | "policy") | null;
                cause?: ("code" | "environment" | "target") | null;
                overdue?: boolean | null;
                shadow?: boolean;
                rule?: string | null;
                text?: string | null;
                limit?: number;
                cursor?: string | null;
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
    list_triage_batches: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
    add_alert_note: {
        parameters: {
            query?: never;
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
            query?: never;
            header?: never;
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
            query?: never;
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
    list_audit: {
        parameters: {
            query?: {
                object_kind?: ("alert" | "rule" | "schedule" | "benchmark" | "token" | "triage_batch" | "target" | "import") | null;
                object_id?: string | null;
                actor?: string | null;
                limit?: number;
                cursor?: string | null;
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
    list_imports: {
        parameters: {
            query?: {
                format?: string | null;
                limit?: number;
                cursor?: string | null;
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
            query?: never;
            header?: never;
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
    read_import: {
        parameters: {
            query?: never;
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
            query?: never;
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
    list_incidents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
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
    get_job: {
        parameters: {
            query?: never;
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
            query?: never;
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
                "application/json": components["schemas"]["FinishIn"];
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
            query?: never;
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
                    /** Items */
                    items: ({
                        /**
                         * Kind
                         * @constant
                         */
                        kind: "samples";
                        /** Seq */
                        seq: number;
                        /** Launch */
                        launch: number;
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
                        /** Unit */
                        unit: string;
                        /**
                         * Direction
                         * @enum {string}
                         */
                        direction: "lower" | "higher";
                        /**
                         * Phase
                         * @enum {string}
                         */
                        phase: "warmup" | "measure";
                        /** Rounds */
                        rounds: number[];
                        /** Positions */
                        positions: number[];
                        /** Iterations */
                        iterations: number[];
                        /** T Ns */
                        t_ns: number[];
                        /** Values */
                        values: number[];
                        /** Work */
                        work?: {
                            [key: string]: number[];
                        };
                        /** Side */
                        side?: ("base" | "head") | null;
                    } | {
                        /**
                         * Kind
                         * @constant
                         */
                        kind: "event";
                        /** Seq */
                        seq: number;
                        /** Launch */
                        launch: number;
                        /** Event */
                        event: {
                            [key: string]: unknown;
                        };
                        /** Side */
                        side?: ("base" | "head") | null;
                    } | {
                        /**
                         * Kind
                         * @constant
                         */
                        kind: "conditions";
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
                        raw?: {
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
                        }[];
                    } | {
                        /**
                         * Kind
                         * @constant
                         */
                        kind: "log";
                        /** Seq */
                        seq: number;
                        /**
                         * Stream
                         * @enum {string}
                         */
                        stream: "workload" | "build" | "agent";
                        /** Lines */
                        lines: string[];
                    } | {
                        /**
                         * Kind
                         * @constant
                         */
                        kind: "reported";
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
                            [key: string]: number | string | {
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
                        };
                        /** Text */
                        text: string;
                        /** Note */
                        note: string | null;
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
    renew: {
        parameters: {
            query?: never;
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
            query?: never;
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
                "application/json": components["schemas"]["StateIn"];
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
    read_conditions: {
        parameters: {
            query?: {
                after?: number;
                attempt?: number | null;
                expand?: "raw" | null;
                limit?: number;
                cursor?: string | null;
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
            query?: never;
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
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With `format=text` the whole log of the attempt as a file, sent while it is read; `after`, `tail`, `limit` and `cursor` are of pages only. */
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
            query?: never;
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
    list_policies: {
        parameters: {
            query?: {
                suite?: string | null;
                policy?: string | null;
                target?: string | null;
                limit?: number;
                cursor?: string | null;
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
                /** @description A JSON object of params; without it, every point. */
                params?: string | null;
                limit?: number;
                cursor?: string | null;
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
    list_rules: {
        parameters: {
            query?: {
                kind?: ("history" | "arm_slower") | null;
                mode?: ("active" | "shadow" | "off") | null;
                limit?: number;
                cursor?: string | null;
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
            query?: never;
            header?: never;
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
                kind?: "history" | "arm_slower";
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
            query?: never;
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
    get_rule: {
        parameters: {
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
                trigger?: ("manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a" | "import") | null;
                limit?: number;
                cursor?: string | null;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
    list_schedules: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
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
            query?: never;
            header?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
                /** @description Words that must all occur in its name. */
                text?: string | null;
                changed?: boolean | null;
                limit?: number;
                cursor?: string | null;
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
            query?: never;
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
    stream: {
        parameters: {
            query?: {
                run?: string | null;
                last_event_id?: number | null;
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
            query?: never;
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
            query?: never;
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
    get_target: {
        parameters: {
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
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
            query?: never;
            header?: never;
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
            query?: never;
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
