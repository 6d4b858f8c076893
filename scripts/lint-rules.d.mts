export const ARTIFACTS_MESSAGE: string;
declare const plugin: { readonly rules: Readonly<Record<string, object>> };
export default plugin;
