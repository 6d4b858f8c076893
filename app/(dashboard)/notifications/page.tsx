import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Notifications } from "@/components/features/notifications/notifications";

export const metadata: Metadata = { title: "Notifications" };

const Page = (): ReactNode => <Notifications />;

export default Page;
