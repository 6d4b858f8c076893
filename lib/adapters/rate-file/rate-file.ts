import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { CurrencyRate, CurrencyRates } from "@/lib/books/ports/currency-rates";
import { RATED_CURRENCIES } from "@/lib/core/currencies";

const rate = z.strictObject({
  usd: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,18})?$/)
    .refine((text) => /[1-9]/.test(text)),
  at: z.iso.datetime({ offset: true }),
});
/**
 * Content of a rate file, with an entry for each currency: `{"EUR": {"usd": "1.0843", "at":
 * "2026-12-01T16:00:00Z"}}`.
 */
const rateFile = z.partialRecord(z.enum(RATED_CURRENCIES), rate);

/** Reads the rates in the text of a rate file. @throws when the text is not such a file */
export const readRates = (text: string): readonly CurrencyRate[] => {
  const parsed = rateFile.parse(JSON.parse(text));
  return RATED_CURRENCIES.flatMap((currency) => {
    const found = parsed[currency];
    return found === undefined ? [] : [{ currency, usd: found.usd, at: new Date(found.at) }];
  });
};

/**
 * Rates from a JSON file that another program writes, such as a job that takes the reference rates
 * of a central bank. The file is read for each call, so a new file needs no restart.
 */
export const createRateFile = (path: string): CurrencyRates => ({
  source: "file",
  rates: async (signal) => readRates(await readFile(path, { encoding: "utf8", signal })),
});
