import type { Database } from "@/lib/db/client";
import { createNoteRepository } from "./note-repository";
import { createQuoteRepository } from "./quote-repository";
import { createSlotRepository } from "./slot-repository";
import { createSpendRepository } from "./spend-repository";
import { createStepRepository } from "./step-repository";
import { createTransferRepository } from "./transfer-repository";

/** Private operations: transfers, the notes that they spend, the deposit numbers that they use, and quotes of swaps. */
export const createPrivacyRepository = (database: Database) => ({
  ...createTransferRepository(database),
  ...createSpendRepository(database),
  ...createStepRepository(database),
  ...createNoteRepository(database),
  ...createSlotRepository(database),
  ...createQuoteRepository(database),
});

export type PrivacyRepository = ReturnType<typeof createPrivacyRepository>;
