import type { Database } from "@/lib/db/client";
import { createNoteRepository } from "./note-repository";
import { createQuoteRepository } from "./quote-repository";
import { createSlotRepository } from "./slot-repository";
import { createStepRepository } from "./step-repository";
import { createTransferRepository } from "./transfer-repository";

/** Private operations: transfers, the notes that they spend, the deposit numbers that they use, and quotes of swaps. */
export const createPrivacyRepository = (database: Database) => ({
  ...createTransferRepository(database),
  ...createStepRepository(database),
  ...createNoteRepository(database),
  ...createSlotRepository(database),
  ...createQuoteRepository(database),
});

export type PrivacyRepository = ReturnType<typeof createPrivacyRepository>;
