interface Pegged {
  readonly usdPegged: boolean;
}

/**
 * The ISO 4217 code under which formats of banks show an asset: `USD` when every token of the asset
 * is pegged to the US dollar, else null, because no code fits.
 * @example isoCurrencyOf([{ usdPegged: true }]) // "USD"
 */
export const isoCurrencyOf = (tokens: readonly Pegged[]): "USD" | null =>
  tokens.length > 0 && tokens.every(({ usdPegged }) => usdPegged) ? "USD" : null;
