import { address as addressSchema } from "@/lib/contracts/common";
import { createLookAlikes, type KnownAddress } from "@/lib/core/look-alike";

export type RecipientView =
  /** Nothing typed, or not an address yet. */
  | { readonly as: "none" }
  | {
      readonly as: KnownAddress["as"];
      readonly address: string;
      readonly name: string;
      readonly lookAlike: KnownAddress | null;
    }
  /** Nothing was ever sent there. */
  | { readonly as: "new"; readonly address: string; readonly name: null; readonly lookAlike: KnownAddress | null };

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Who it is that gets the money, as far as the project knows. One's own wallet counts before a contact, a contact before a habit. */
export const recipientView = (typed: string, known: readonly KnownAddress[]): RecipientView => {
  const parsed = addressSchema.safeParse(typed.trim());
  if (!parsed.success) return { as: "none" };
  const address = parsed.data;
  const lookAlike = createLookAlikes(known)(address);
  for (const as of ["own", "contact", "earlier"] as const) {
    const match = known.find((one) => one.as === as && same(one.address, address));
    if (match !== undefined) return { as, address, name: match.name, lookAlike };
  }
  return { as: "new", address, name: null, lookAlike };
};
