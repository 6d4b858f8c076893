/**
 * Bundles programs of the build into a folder. Fails when one loads a package that a production
 * install lacks.
 */
export declare const bundleInto: (names: readonly string[], outdir: string) => Promise<void>;
