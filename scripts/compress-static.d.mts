/**
 * Removes source maps, and writes a `.br` and a `.gz` file beside each script, style and text file
 * of the folder.
 */
export declare const compressStatic: (folder: string) => Promise<void>;
