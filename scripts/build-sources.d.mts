export declare const isBuildSource: (path: string) => boolean;
