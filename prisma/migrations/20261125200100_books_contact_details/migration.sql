-- Labels of a contact, and the chains on which its address is meant to be paid; none: every chain.
ALTER TABLE "contact" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT '{}';
ALTER TABLE "contact" ADD COLUMN "chain_ids" INTEGER[] NOT NULL DEFAULT '{}';
