declare global {
  // zod's global configuration; zod keeps an object that exists already.
  var __zod_globalConfig: { jitless?: boolean } | undefined;
}

// The content security policy of the pages forbids eval, and zod would try it for every schema. Set
// without zod, which most pages do not load.
(globalThis.__zod_globalConfig ??= {}).jitless = true;

export {};
