import { readFileSync, writeFileSync } from "node:fs";
import { withEventTable } from "../lib/contracts/event-table";

const WEBHOOKS = "docs/webhooks.md";

/**
 * Writes the tables in the documents that are generated from the contracts. Unit tests compare the
 * files with the contracts.
 */
writeFileSync(WEBHOOKS, withEventTable(readFileSync(WEBHOOKS, "utf8")));
