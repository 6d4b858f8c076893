-- An instance of the version before may be at work: what it would write meanwhile has to fail, and not to be lost.
LOCK TABLE "payout", "payout_item" IN ACCESS EXCLUSIVE MODE;

-- What was asked for lies in few large values instead of a row each; a payment has a row of its own once it has ended by itself.
CREATE TABLE "payout_rows" (
    "payout_id" TEXT NOT NULL,
    "first_index" INTEGER NOT NULL,
    "rows" JSON NOT NULL,

    CONSTRAINT "payout_rows_pkey" PRIMARY KEY ("payout_id","first_index")
);
-- Compressing takes longer than writing.
ALTER TABLE "payout_rows" ALTER COLUMN "rows" SET STORAGE EXTERNAL;
ALTER TABLE "payout_rows" ADD CONSTRAINT "payout_rows_first_index_check" CHECK ("first_index" >= 0 AND "first_index" % 1000 = 0);

INSERT INTO "payout_rows" ("payout_id", "first_index", "rows")
SELECT "payout_id", "index" / 1000 * 1000, json_agg(json_build_array("recipient_account_id", "amount_base"::text, "reference") ORDER BY "index")
FROM "payout_item" GROUP BY 1, 2;

DELETE FROM "payout_item" WHERE "status" IS NULL;
ALTER TABLE "payout_item" DROP COLUMN "recipient_account_id", DROP COLUMN "amount_base", DROP COLUMN "reference", ALTER COLUMN "status" SET NOT NULL;
