/**
 * Writes `dist/build-files.json`: the paths of all files and links that the build made and the
 * service needs.
 */
export declare const listBuildFiles: (root: string) => void;
