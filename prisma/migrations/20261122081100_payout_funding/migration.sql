-- How the missing part of a payout is brought to its chain: the quote, its sources, and what it costs.
ALTER TABLE "wallet_payout" ADD COLUMN "funding" JSONB;
