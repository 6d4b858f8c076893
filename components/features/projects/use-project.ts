"use client";

import { useEffect } from "react";
import { type Me, useMe } from "@/components/features/profile/use-me";
import { usePreference, writePreference } from "@/components/ui/preferences";
import { ApiError } from "@/lib/api-client/client";
import { type Permission, roleMay } from "@/lib/core/permissions";

export type Project = Me["projects"][number];

/**
 * The project chosen in this browser, and all projects of the person. The project is undefined
 * while they load.
 */
export const useProject = (): {
  readonly project: Project | undefined;
  readonly projects: readonly Project[];
} => {
  const { data, error } = useMe();
  const chosen = usePreference("project");
  const isGone = error instanceof ApiError && error.status === 404 && chosen !== null;
  useEffect(() => {
    // Leaves the chosen project when the person was removed from it.
    if (isGone) chooseProject(null);
  }, [isGone]);
  const projects = data?.projects ?? [];
  return { project: projects.find(({ id }) => id === chosen) ?? projects[0], projects };
};

/** Whether the person's role in the project has the permission; false while the role loads. */
export const useMay = (permission: Permission): boolean => {
  const { project } = useProject();
  return project !== undefined && roleMay(project.role, permission);
};

/**
 * Switches to another project. Reloads the overview, so that nothing of the previous project stays
 * in memory.
 */
export const chooseProject = (id: string | null): void => {
  writePreference("project", id);
  window.location.assign("/");
};
