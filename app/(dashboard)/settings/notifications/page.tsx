import type { Metadata } from "next";
import type { ReactNode } from "react";
import { NotificationSettings } from "@/components/features/profile/sections";

export const metadata: Metadata = { title: "Notification settings" };

const Page = (): ReactNode => <NotificationSettings />;

export default Page;
