-- What all exempt keys of a project together may move in a day without a code. Keys with a higher cap of their own stay within it.
ALTER TABLE "project" ADD COLUMN "daily_cap_usd" DECIMAL(38,6) NOT NULL DEFAULT 1000;
ALTER TABLE "project" ADD CONSTRAINT "project_daily_cap_usd_check" CHECK ("daily_cap_usd" >= 0 AND "daily_cap_usd" <> 'NaN');

CREATE TABLE "project_spend" (
    "project_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "spent_usd" DECIMAL(38,6) NOT NULL,

    CONSTRAINT "project_spend_pkey" PRIMARY KEY ("project_id","day")
);
ALTER TABLE "project_spend" ADD CONSTRAINT "project_spend_spent_usd_check" CHECK ("spent_usd" >= 0 AND "spent_usd" <> 'NaN');

-- What was spent today already counts.
INSERT INTO "project_spend" ("project_id", "day", "spent_usd")
SELECT k."project_id", s."day", sum(s."spent_usd")
FROM "policy_spend" s JOIN "api_key" k ON k."id" = s."api_key_id" GROUP BY 1, 2;

ALTER TABLE "api_key" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 0;

ALTER TABLE "email_code" ADD COLUMN "approval_id" TEXT, ADD COLUMN "approved_until" TIMESTAMPTZ(3);

CREATE TABLE "approval" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "message" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "consumed_by" TEXT,

    CONSTRAINT "approval_pkey" PRIMARY KEY ("project_id","id")
);
ALTER TABLE "approval" ADD CONSTRAINT "approval_consumed_check" CHECK (("consumed_at" IS NULL) = ("consumed_by" IS NULL) AND ("consumed_by" IS NULL OR "consumed_by" IN ('code', 'signature')));

CREATE TABLE "mail_outbox" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "to" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_outbox_pkey" PRIMARY KEY ("project_id","id")
);
