/** Folders of lib, the lowest first. */
export declare const ROOMS: readonly string[];
