import { writePreference } from "@/components/ui/preferences";

/** Works in another project from now on. Loads the overview anew, so that nothing of the former project stays in memory. */
export const chooseProject = (id: string | null): void => {
  writePreference("project", id);
  window.location.assign("/");
};
