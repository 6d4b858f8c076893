-- Every encrypted value names the key-encryption key that it is under. Wallet keys have the column already; the id 'local-1' stands
-- for the one key that there was before keys had ids.
ALTER TABLE "token_key" ADD COLUMN "kek_id" TEXT NOT NULL DEFAULT 'local-1';

-- The start asks which keys are in use, and a rotation reads the rows of one key by id.
CREATE INDEX "managed_key_kek_id_id_idx" ON "managed_key"("kek_id", "id");

-- Names the application secret that the hash was made with; null where it was made before this column.
ALTER TABLE "api_key" ADD COLUMN "app_secret_id" TEXT;
