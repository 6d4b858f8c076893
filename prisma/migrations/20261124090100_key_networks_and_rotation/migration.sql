-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "last_used_address" TEXT,
ADD COLUMN     "networks" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "previous_app_secret_id" TEXT,
ADD COLUMN     "previous_hash" BYTEA,
ADD COLUMN     "previous_last4" TEXT,
ADD COLUMN     "previous_lookup" TEXT,
ADD COLUMN     "previous_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE UNIQUE INDEX "api_key_previous_lookup_key" ON "api_key"("previous_lookup");
