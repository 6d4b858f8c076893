-- A declined deposit leaves its pool by the public exit, to the treasury that deposited it.
ALTER TABLE "privacy_transfer" ADD COLUMN "note_id" TEXT;
ALTER TABLE "privacy_transfer" DROP CONSTRAINT "privacy_transfer_kind_check";
ALTER TABLE "privacy_transfer" ADD CONSTRAINT "privacy_transfer_kind_check"
  CHECK ("kind" IN ('shield', 'unshield', 'private_transfer', 'private_swap', 'public_exit') AND ("kind" = 'public_exit') = ("note_id" IS NOT NULL));
CREATE INDEX "privacy_transfer_exits_idx" ON "privacy_transfer" ("project_id", "chain_id", "note_id") WHERE "note_id" IS NOT NULL;
