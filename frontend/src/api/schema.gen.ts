// Generated from backend/openapi.json by `npm run api`. Do not edit.

export interface paths {
    "/api/v1/session/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post Session Link */
        post: operations["post_session_link_api_v1_session_link_post"];
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
        /** Get Session */
        get: operations["get_session_api_v1_session_get"];
        put?: never;
        /** Post Session */
        post: operations["post_session_api_v1_session_post"];
        /** Delete Session */
        delete: operations["delete_session_api_v1_session_delete"];
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
        /** Get Accounts */
        get: operations["get_accounts_api_v1_accounts_get"];
        put?: never;
        post?: never;
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
        /** Get Tokens */
        get: operations["get_tokens_api_v1_tokens_get"];
        put?: never;
        /** Post Tokens */
        post: operations["post_tokens_api_v1_tokens_post"];
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
        /** Get Suites */
        get: operations["get_suites_api_v1_suites_get"];
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
        /** Get Suites Name */
        get: operations["get_suites_name__api_v1_suites__name__get"];
        put?: never;
        post?: never;
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
        /** Post Agents Enrolment Codes */
        post: operations["post_agents_enrolment_codes_api_v1_agents_enrolment_codes_post"];
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
        /** Get Agents */
        get: operations["get_agents_api_v1_agents_get"];
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
        /** Get Targets */
        get: operations["get_targets_api_v1_targets_get"];
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
        /** Get Targets Target Id */
        get: operations["get_targets_target_id__api_v1_targets__target_id__get"];
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
        /** Put Targets Target Id Maintenance */
        put: operations["put_targets_target_id_maintenance_api_v1_targets__target_id__maintenance_put"];
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
        /** Get Runs */
        get: operations["get_runs_api_v1_runs_get"];
        put?: never;
        /** Post Runs */
        post: operations["post_runs_api_v1_runs_post"];
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
        /** Get Runs Run Id */
        get: operations["get_runs_run_id__api_v1_runs__run_id__get"];
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
        /** Post Runs Run Id Cancel */
        post: operations["post_runs_run_id_cancel_api_v1_runs__run_id__cancel_post"];
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
        /** Get Jobs Job Id */
        get: operations["get_jobs_job_id__api_v1_jobs__job_id__get"];
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
        /** Get Jobs Job Id Log */
        get: operations["get_jobs_job_id_log_api_v1_jobs__job_id__log_get"];
        put?: never;
        post?: never;
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
        /** Get Jobs Job Id Conditions */
        get: operations["get_jobs_job_id_conditions_api_v1_jobs__job_id__conditions_get"];
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
        /** Get Overview */
        get: operations["get_overview_api_v1_overview_get"];
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
        /** Get Jobs Job Id Report */
        get: operations["get_jobs_job_id_report_api_v1_jobs__job_id__report_get"];
        put?: never;
        post?: never;
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
        /** Get Runs Run Id Comparisons */
        get: operations["get_runs_run_id_comparisons_api_v1_runs__run_id__comparisons_get"];
        put?: never;
        post?: never;
        delete?: never;
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
        /** Get Arms */
        get: operations["get_arms_api_v1_arms_get"];
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
        /** Get Jobs Job Id Distribution */
        get: operations["get_jobs_job_id_distribution_api_v1_jobs__job_id__distribution_get"];
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
        /** Get Jobs Job Id Live Series */
        get: operations["get_jobs_job_id_live_series_api_v1_jobs__job_id__live_series_get"];
        put?: never;
        post?: never;
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
        /** Get Alerts */
        get: operations["get_alerts_api_v1_alerts_get"];
        put?: never;
        post?: never;
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
        /** Get Alerts Alert Id */
        get: operations["get_alerts_alert_id__api_v1_alerts__alert_id__get"];
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
        /** Post Alerts Alert Id Actions */
        post: operations["post_alerts_alert_id_actions_api_v1_alerts__alert_id__actions_post"];
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
        /** Post Alerts Alert Id Notes */
        post: operations["post_alerts_alert_id_notes_api_v1_alerts__alert_id__notes_post"];
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
        /** Put Alerts Alert Id Assignee */
        put: operations["put_alerts_alert_id_assignee_api_v1_alerts__alert_id__assignee_put"];
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
        /** Get Stream */
        get: operations["get_stream_api_v1_stream_get"];
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
        /** AlertActionIn */
        AlertActionIn: {
            /**
             * Action
             * @enum {string}
             */
            action: "acknowledge" | "fixed" | "expected" | "invalid" | "infra" | "reopen";
            /** Note */
            note?: string | null;
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
            state: "candidate" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra";
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
            /** Findings */
            findings: components["schemas"]["FindingOut"][];
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
            from_state: ("candidate" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra") | null;
            /** To State */
            to_state: ("candidate" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra") | null;
            /** Note */
            note: string | null;
        };
        /** AlertNoteIn */
        AlertNoteIn: {
            /** Note */
            note: string;
        };
        /** AlertOut */
        AlertOut: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /**
             * State
             * @enum {string}
             */
            state: "candidate" | "unconfirmed" | "inconclusive" | "open" | "acknowledged" | "fixed" | "expected" | "invalid" | "infra";
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
         * @description The newest comparisons of one benchmark per target, with the rule in words and a one-sentence summary.
         */
        ArmsOut: {
            /** Suite */
            suite: string;
            /** Benchmark */
            benchmark: string;
            /** Reference */
            reference: string;
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
        /** BenchmarkOut */
        BenchmarkOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description?: string | null;
            /** Workload */
            workload: string;
            /** Arms */
            arms: string[];
            /** Reference */
            reference: string;
            /** Params */
            params: components["schemas"]["ParamOut"][];
            /** Metrics */
            metrics: components["schemas"]["MetricOut"][];
            /** Margin Percent */
            margin_percent: number;
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
         * ComparisonOut
         * @description One arm against the reference at one point of the params. `ratio` = arm time ÷ reference time: below 1 is
         *     faster, for every metric. `lower`/`upper`: order-statistic interval of the paired ratio.
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
            verdict: "pass" | "fail" | "inconclusive";
            /** Reason */
            reason: string;
            /** Words */
            words: string;
            /** Margin Percent */
            margin_percent: number;
            /** Launch Ratios */
            launch_ratios: number[];
            /** Run Id */
            run_id?: string | null;
            /** Job Id */
            job_id?: string | null;
            /** Target Id */
            target_id?: string | null;
            /** Target Name */
            target_name?: string | null;
            /** Measured At */
            measured_at?: string | null;
            /**
             * Demonstration
             * @default false
             */
            demonstration: boolean;
        };
        /** ConditionsOut */
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
        };
        /** DerivedOut */
        DerivedOut: {
            /** Name */
            name: string;
            /** Benchmark */
            benchmark: string;
            /** Arm */
            arm: string;
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
        /** EcdfPointOut */
        EcdfPointOut: {
            /** Value */
            value: number;
            /** Share */
            share: number;
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
        /** FindingOut */
        FindingOut: {
            /** Id */
            id: string;
            /**
             * Kind
             * @constant
             */
            kind: "arm_slower";
            /**
             * Role
             * @enum {string}
             */
            role: "candidate" | "confirmation" | "recovery";
            /** Run Id */
            run_id: string;
            /** Job Id */
            job_id: string;
            /** Params */
            params: {
                [key: string]: number | string;
            };
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail" | "inconclusive";
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
            launches: number;
            /** Blocks */
            blocks: number;
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
        /** GateOut */
        GateOut: {
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
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "pass" | "fail" | "inconclusive";
            /** Reason */
            reason: string;
        };
        /** HTTPValidationError */
        HTTPValidationError: {
            /** Detail */
            detail?: components["schemas"]["ValidationError"][];
        };
        /** JobOut */
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
            /** Detail */
            detail: string | null;
            /** Cause */
            cause: ("stream_invalid" | "workload_hung" | "workload_flooded" | "workload_crashed" | "workload_error" | "workload_no_terminal" | "check_failed" | "build_failed" | "suite_invalid" | "checkout_failed" | "agent_lost" | "agent_error" | "disk_full" | "target_refused" | "lease_lost" | "cancelled") | null;
            /** Cause Detail */
            cause_detail: string | null;
            /** Attempt */
            attempt: number;
            /** Batch */
            batch: number;
            /** Partial */
            partial: boolean;
            progress: components["schemas"]["ProgressOut"] | null;
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive") | null;
            /** Reason */
            reason: string | null;
            /** Artifact Hash */
            artifact_hash: string | null;
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
         * @description The same shape `make bench JSON=…` writes.
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
            minimum?: number | null;
            /** Maximum */
            maximum?: number | null;
            /** Values */
            values?: string[] | null;
            /** Demonstration */
            demonstration: boolean;
            /** Description */
            description: string;
        };
        /**
         * LinkSignInIn
         * @description The one-time token of a sign-in link.
         */
        LinkSignInIn: {
            /** Token */
            token: string;
        };
        /** LiveEventOut */
        LiveEventOut: {
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
        /**
         * LiveSeriesOut
         * @description Thinned recent values of one case while a job measures: `values` per iteration, base unit.
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
        /** MaintenanceIn */
        MaintenanceIn: {
            /** On */
            on: boolean;
            /** Reason */
            reason?: string | null;
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
        /** OverviewOut */
        OverviewOut: {
            /** Alerts By State */
            alerts_by_state: {
                [key: string]: number;
            };
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
        /** Page[RunOut] */
        Page_RunOut_: {
            /** Items */
            items: components["schemas"]["RunOut"][];
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
        /**
         * ParamOut
         * @description `values` are the declared values in order; a benchmark runs their cross product unless a run selects.
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
            unit?: string | null;
            /** Description */
            description?: string | null;
        };
        /** PasswordSignInIn */
        PasswordSignInIn: {
            /** Email */
            email: string;
            /** Password */
            password: string;
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
         * RunIn
         * @description One request to measure. Omitted: `commit` = head of the suite's announced branch, `targets` = every online
         *     target whose agent announced the suite, `benchmarks` = all, `params` = all declared values.
         */
        RunIn: {
            /** Suite */
            suite: string;
            /** Commit */
            commit?: string | null;
            /** Benchmarks */
            benchmarks?: string[] | null;
            /** Targets */
            targets?: string[] | null;
            /**
             * Launches
             * @default 5
             */
            launches: number;
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
            /**
             * Trigger
             * @default manual
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci";
        };
        /** RunOut */
        RunOut: {
            /** Id */
            id: string;
            /** Suite */
            suite: string;
            /** Repository */
            repository: string;
            /** Commit */
            commit: string;
            /** Branch */
            branch: string | null;
            /**
             * Trigger
             * @enum {string}
             */
            trigger: "manual" | "schedule" | "ci" | "confirm" | "bisect" | "a_a";
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "active" | "done" | "failed" | "cancelled";
            /** Verdict */
            verdict: ("pass" | "fail" | "inconclusive") | null;
            /** Reason */
            reason: string | null;
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
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
        };
        /**
         * TargetOut
         * @description `state` is reachability and use; `hold` is the independent reason it must not be used, if any.
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
            /** Last Seen At */
            last_seen_at: string | null;
            /** Active Job Id */
            active_job_id: string | null;
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
        /** ValidationError */
        ValidationError: {
            /** Location */
            loc: (string | number)[];
            /** Message */
            msg: string;
            /** Error Type */
            type: string;
            /** Input */
            input?: unknown;
            /** Context */
            ctx?: Record<string, never>;
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
    post_session_link_api_v1_session_link_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_session_api_v1_session_get: {
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
        };
    };
    post_session_api_v1_session_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    delete_session_api_v1_session_delete: {
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
        };
    };
    get_accounts_api_v1_accounts_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_tokens_api_v1_tokens_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_tokens_api_v1_tokens_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_suites_api_v1_suites_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_suites_name__api_v1_suites__name__get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_agents_enrolment_codes_api_v1_agents_enrolment_codes_post: {
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
                    "application/json": components["schemas"]["EnrolmentCodeOut"];
                };
            };
        };
    };
    get_agents_api_v1_agents_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_targets_api_v1_targets_get: {
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
                    "application/json": components["schemas"]["Page_TargetOut_"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_targets_target_id__api_v1_targets__target_id__get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    put_targets_target_id_maintenance_api_v1_targets__target_id__maintenance_put: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_runs_api_v1_runs_get: {
        parameters: {
            query?: {
                suite?: string | null;
                target?: string | null;
                state?: string | null;
                trigger?: string | null;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_runs_api_v1_runs_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_runs_run_id__api_v1_runs__run_id__get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_runs_run_id_cancel_api_v1_runs__run_id__cancel_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_jobs_job_id__api_v1_jobs__job_id__get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_jobs_job_id_log_api_v1_jobs__job_id__log_get: {
        parameters: {
            query?: {
                after?: string | null;
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
                    "application/json": components["schemas"]["Page_LogLineOut_"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_jobs_job_id_conditions_api_v1_jobs__job_id__conditions_get: {
        parameters: {
            query?: {
                after?: string | null;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_overview_api_v1_overview_get: {
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
        };
    };
    get_jobs_job_id_report_api_v1_jobs__job_id__report_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_runs_run_id_comparisons_api_v1_runs__run_id__comparisons_get: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_arms_api_v1_arms_get: {
        parameters: {
            query?: {
                suite?: string | null;
                benchmark?: string | null;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_jobs_job_id_distribution_api_v1_jobs__job_id__distribution_get: {
        parameters: {
            query?: {
                benchmark?: string | null;
                metric?: string | null;
                params?: string | null;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_jobs_job_id_live_series_api_v1_jobs__job_id__live_series_get: {
        parameters: {
            query?: {
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
                    "application/json": components["schemas"]["Page_LiveSeriesOut_"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_alerts_api_v1_alerts_get: {
        parameters: {
            query?: {
                state?: string | null;
                suite?: string | null;
                target?: string | null;
                assignee?: string | null;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_alerts_alert_id__api_v1_alerts__alert_id__get: {
        parameters: {
            query?: never;
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_alerts_alert_id_actions_api_v1_alerts__alert_id__actions_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    post_alerts_alert_id_notes_api_v1_alerts__alert_id__notes_post: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    put_alerts_alert_id_assignee_api_v1_alerts__alert_id__assignee_put: {
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
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_stream_api_v1_stream_get: {
        parameters: {
            query?: {
                run?: string | null;
                last_event_id?: string | null;
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
                    "application/json": components["schemas"]["LiveEventOut"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
}
