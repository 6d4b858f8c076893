const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/**
 * Decimal string → what a list shows: thousands grouped, at most `fractionMax` fraction digits, cut and never rounded.
 * `cut` is true when digits are missing.
 */
export const shortenAmount = (value: string, fractionMax: number): { text: string; cut: boolean } => {
  const [, sign = "", whole = "0", fraction = ""] = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(value) ?? [];
  const exact = fraction.replace(/0+$/, "");
  const shown = exact.slice(0, fractionMax);
  const text = shown === "" ? grouped(whole) : `${grouped(whole)}.${shown}`;
  return { text: sign.replace("-", "−") + text, cut: exact.length > fractionMax };
};
