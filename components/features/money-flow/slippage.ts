import { SLIPPAGE_BPS_MAX } from "@/lib/contracts/swap";

/** The error of the field for which `slippageBps` returns null. */
export const SLIPPAGE_PROBLEM = `Type a percentage from 0 to ${String(SLIPPAGE_BPS_MAX / 100)}, with at most two digits after the point.`;

/**
 * A typed percentage in basis points, with a decimal point or comma. Null when the text is no
 * percentage, has more than two decimal digits, or exceeds the service's limit.
 * @example slippageBps("0,5") // 50
 */
export const slippageBps = (typed: string): number | null => {
  const match = /^(?<whole>\d{0,2})(?:[.,](?<fraction>\d{1,2}))?$/.exec(typed.trim());
  const { whole = "", fraction = "" } = match?.groups ?? {};
  if (whole === "" && fraction === "") return null;
  const bps = Number(whole) * 100 + Number(fraction.padEnd(2, "0"));
  return bps <= SLIPPAGE_BPS_MAX ? bps : null;
};
