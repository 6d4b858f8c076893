import { findLookAlike } from "@/components/features/swap/look-alike";
import { address as addressSchema } from "@/lib/contracts/common";

/** An address that the project has something to do with, and by what name. */
export interface KnownAddress {
  readonly address: string;
  readonly name: string;
  readonly as: "own" | "contact" | "earlier";
}

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

/** Which of the others may be the one that is meant: what was once sent somewhere by mistake must not vouch for it. */
const RIVALS = {
  own: [],
  contact: ["own", "contact"],
  earlier: ["own", "contact"],
  new: ["own", "contact", "earlier"],
} as const satisfies Record<KnownAddress["as"] | "new", readonly KnownAddress["as"][]>;

const lookAlikeOf = (
  address: string,
  as: KnownAddress["as"] | "new",
  known: readonly KnownAddress[],
): KnownAddress | null => {
  const rivals = known.filter((one) => RIVALS[as].some((each) => each === one.as) && !same(one.address, address));
  const found = findLookAlike(
    address,
    rivals.map((one) => one.address),
  );
  return found === null ? null : (rivals.find((one) => one.address === found) ?? null);
};

/** Who it is that gets the money, as far as the project knows. One's own wallet counts before a contact, a contact before a habit. */
export const recipientView = (typed: string, known: readonly KnownAddress[]): RecipientView => {
  const parsed = addressSchema.safeParse(typed.trim());
  if (!parsed.success) return { as: "none" };
  const address = parsed.data;
  for (const as of ["own", "contact", "earlier"] as const) {
    const match = known.find((one) => one.as === as && same(one.address, address));
    if (match !== undefined) return { as, address, name: match.name, lookAlike: lookAlikeOf(address, as, known) };
  }
  return { as: "new", address, name: null, lookAlike: lookAlikeOf(address, "new", known) };
};
