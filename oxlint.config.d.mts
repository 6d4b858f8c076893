/** The rules that need types, by their name in oxlint. */
export const TYPED: Readonly<Record<string, unknown>>;
declare const config: { readonly rules: object; readonly overrides: readonly object[] };
export default config;
