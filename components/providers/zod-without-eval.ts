declare global {
  // zod's global configuration. zod does not replace an existing object.
  var __zod_globalConfig: { jitless?: boolean } | undefined;
}

// The content security policy of the pages forbids eval, which zod would try for every schema. The
// option is set without importing zod, because most pages do not load it.
(globalThis.__zod_globalConfig ??= {}).jitless = true;

export {};
