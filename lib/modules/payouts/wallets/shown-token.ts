import type { Token } from "@/lib/core/token";
import { unknownToken } from "../readable";
import type { WalletsPayoutParts } from "./service";
import { tokenName } from "./rows";
import { tokenNamed } from "./wallet-payout";

/** The token of a row by the name that rows use. In a payout that cannot be read as a whole, one whose total cannot be read is UNKNOWN. */
export const shownToken = ({ payout, own }: Pick<WalletsPayoutParts, "payout" | "own">, name: string): Token =>
  payout.unread === true && !own.totals.some(({ token }) => tokenName(token) === name)
    ? unknownToken(own.chainId)
    : tokenNamed(own.totals, name);
