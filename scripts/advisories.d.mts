export interface LockedPackage {
  readonly name: string;
  readonly version: string;
}
export interface AffectedPackage extends LockedPackage {
  readonly id: string;
  readonly summary: string;
}
export function compareVersions(left: string, right: string): number;
export function packagesOf(lock: object): LockedPackage[];
export function findAffected(
  packages: readonly LockedPackage[],
  advisories: readonly object[],
): AffectedPackage[];
export function readAdvisories(folder: string): Promise<object[]>;
