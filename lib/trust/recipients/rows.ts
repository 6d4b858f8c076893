import { z } from "zod";
import {
  int,
  arrayOf,
  address,
  bool,
  nullable,
  oneOf,
  table,
  text,
} from "@/lib/platform/db/table";

export const namedAddresses = table({
  address,
  name: nullable(text),
  as: oneOf(z.enum(["own", "contact"])),
  /** Whether the address is a linked contract, whose code is only on one chain. */
  isContract: bool,
  /** Null for a wallet. */
  state: nullable(oneOf(z.enum(["proposed", "approved"]))),
  /** The chains for which the contact is approved, empty for all; null for a wallet. */
  chainIds: nullable(arrayOf(int)),
});

export const addresses = table({ address });
