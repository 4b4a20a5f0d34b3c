"""The method, pure: values in, values out. Nothing here touches a network, a file, a process or a clock."""
